import { DomainError } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { AuditLine, WriteTransaction } from '../../store/books.ts'
import { write } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { customIn } from '../engines/models/candidates.ts'
import type { SetFallbackChainInput, SetModelPreferenceInput } from '../resolvers.generated.ts'
import type { Capability } from '../stores/model/model.ts'
import { most, readNames, requireLevel, requireSettable, type Settable } from './rules.ts'
import { shownChain, shownPreference } from './shown.ts'
import { tellWarnings } from './warnings.ts'

/** Owner of a setting. */
interface Owner {
  readonly tenantId: string
  /** Organization; null for the platform. */
  readonly organizationId: string | null
  readonly level: 'ORGANIZATION' | 'PLATFORM'
}

function ownerOf({ viewer }: Context, level: 'ORGANIZATION' | 'PLATFORM' | null | undefined): Owner {
  const tenantId = activeOrganization(viewer, 'Settings of models')
  const wanted = level ?? 'ORGANIZATION'
  requireLevel(viewer, wanted)
  return { tenantId, organizationId: wanted === 'PLATFORM' ? null : tenantId, level: wanted }
}

/** Returns the names that can be set; custom providers are the organization's own. */
async function settable(
  { aiModels, credentialsInUse }: Context,
  { organizationId }: Owner,
  capability: Capability,
  names: readonly string[],
  allowed: readonly string[] | null,
  { now, transaction }: WriteTransaction,
): Promise<Settable> {
  const prefixes = organizationId === null ? [] : [...new Set(names.flatMap(name => customIn(name) ?? []))]
  const customs: string[] = []
  for (const prefix of prefixes) if (await credentialsInUse.resolve('custom', organizationId, prefix)) customs.push(prefix)
  return { capability, known: await aiModels.named(names, transaction), allowed, customs, now }
}

const line = ({ tenantId, level }: Owner, action: string, subjectId: string, details: object): AuditLine => ({
  tenantId,
  action,
  subjectId,
  details: { level, ...details },
})

/** Locks and returns the platform's setting of a capability. */
async function platformsAllowed({ modelPreferences }: Context, capability: Capability, { transaction }: WriteTransaction): Promise<readonly string[]> {
  const row = await modelPreferences.lockSetting(null, capability, transaction)
  return row?.allowedModels ?? []
}

/** Sets the preferred model, and which may be named; or returns to the platform's setting. */
export async function setModelPreference(context: Context, { capability, model, allowedModels, level }: SetModelPreferenceInput) {
  const { modelPreferences, aiModels, viewer } = context
  const owner = ownerOf(context, level)
  const names = allowedModels === null || allowedModels === undefined ? null : readNames(allowedModels, 'allowedModels', most.allowed)
  await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      // Locks the platform's row first, as every change that locks both does.
      const platforms = await platformsAllowed(context, capability, unit)
      const present = await modelPreferences.lockSetting(owner.organizationId, capability, transaction)
      if (model === null || model === undefined) {
        if (owner.level === 'PLATFORM') throw new DomainError('BAD_USER_INPUT', 'The platform has nothing to go back to: name a model.', { field: 'model' })
        if (names !== null)
          throw new DomainError('BAD_USER_INPUT', 'allowedModels are set together with a model: name one, or leave them out.', { field: 'allowedModels' })
        if (!present) return null
        await modelPreferences.remove(present, transaction)
        await tellWarnings(context, owner.tenantId, unit)
        return line(owner, 'model_preference.removed', present.id, { capability })
      }
      const allowed = names ?? present?.allowedModels ?? null
      const within = owner.level === 'PLATFORM' ? null : platforms
      const terms = await settable(context, owner, capability, [...(names ?? []), model], within, unit)
      for (const [at, name] of (names ?? []).entries()) requireSettable(name, `allowedModels[${at}]`, terms)
      requireSettable(model, 'model', terms)
      if (!(allowed ?? platforms).includes(model) && !(allowed === null && customIn(model) !== null))
        throw new DomainError('BAD_USER_INPUT', `${model} is not among the allowed models: name it in allowedModels as well.`, { field: 'model' })
      const set = { model, allowedModels: allowed, tenantId: owner.level === 'PLATFORM' ? owner.tenantId : null, updatedAt: now }
      const id = present?.id ?? newId(now)
      if (present) await modelPreferences.update(present, { ...set, version: present.version + 1 }, transaction)
      else {
        const { level: whose, organizationId } = owner
        await modelPreferences.insert({ id, level: whose, organizationId, capability, ...set, createdAt: now, createdBy: actorOf(viewer) }, transaction)
      }
      if (owner.level === 'PLATFORM') await aiModels.configure(capability, allowed!, now, transaction)
      await tellWarnings(context, owner.tenantId, unit)
      return line(owner, 'model_preference.updated', id, { capability, model, ...(names && { allowedModels: names }) })
    },
    audit: done => done,
    announce: () => context.models.forget(),
  })
  return shownPreference(context, owner.organizationId, capability)
}

/** Sets the fallback models; or returns to the platform's chain. */
export async function setFallbackChain(context: Context, { capability, models: given, level }: SetFallbackChainInput) {
  const { fallbackChains, modelPreferences, viewer } = context
  const owner = ownerOf(context, level)
  const names = given === null || given === undefined ? null : readNames(given, 'models', most.chain)
  await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const platforms = await platformsAllowed(context, capability, unit)
      const own = owner.organizationId === null ? null : await modelPreferences.lockSetting(owner.organizationId, capability, transaction)
      const present = await fallbackChains.lockSetting(owner.organizationId, capability, transaction)
      if (names === null) {
        if (owner.level === 'PLATFORM')
          throw new DomainError('BAD_USER_INPUT', 'The platform has no chain to go back to: give one, or an empty list.', { field: 'models' })
        if (!present) return null
        await fallbackChains.remove(present, transaction)
        await tellWarnings(context, owner.tenantId, unit)
        return line(owner, 'fallback_chain.removed', present.id, { capability })
      }
      const terms = await settable(context, owner, capability, names, own?.allowedModels ?? platforms, unit)
      for (const [at, name] of names.entries()) requireSettable(name, `models[${at}]`, terms)
      const set = { models: names, tenantId: owner.level === 'PLATFORM' ? owner.tenantId : null, updatedAt: now }
      const id = present?.id ?? newId(now)
      if (present) await fallbackChains.update(present, { ...set, version: present.version + 1 }, transaction)
      else {
        const { level: whose, organizationId } = owner
        await fallbackChains.insert({ id, level: whose, organizationId, capability, ...set, createdAt: now, createdBy: actorOf(viewer) }, transaction)
      }
      await tellWarnings(context, owner.tenantId, unit)
      return line(owner, 'fallback_chain.updated', id, { capability, models: names })
    },
    audit: done => done,
    announce: () => context.models.forget(),
  })
  return shownChain(context, owner.organizationId, capability)
}
