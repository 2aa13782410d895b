import type { Context } from '../context.ts'
import { effectiveOf } from '../engines/models/candidates.ts'
import { capabilities } from '../engines/models/prices.ts'
import type { Capability } from '../stores/model/model.ts'
import type { SetModels } from '../stores/model/settings.ts'

const levelOf = (isOwn: boolean) => (isOwn ? ('ORGANIZATION' as const) : ('PLATFORM' as const))

const preferenceOf = (settings: readonly SetModels[], capability: Capability) => {
  const { preference, allowed } = effectiveOf(settings, capability)
  return { capability, model: preference?.model ?? null, allowedModels: allowed, level: levelOf(preference?.isOwn ?? false) }
}

const chainOf = (settings: readonly SetModels[], capability: Capability) => {
  const { chain } = effectiveOf(settings, capability)
  return { capability, models: chain.models, level: levelOf(chain.isOwn) }
}

/** Reads the present settings, past the cache. @param organizationId null for the platform's */
const settingsOf = ({ modelPreferences }: Pick<Context, 'modelPreferences'>, organizationId: string | null) => modelPreferences.settings(organizationId)

export const shownPreferences = async (context: Pick<Context, 'modelPreferences'>, organizationId: string | null) => {
  const settings = await settingsOf(context, organizationId)
  return capabilities.map(capability => preferenceOf(settings, capability))
}

export const shownChains = async (context: Pick<Context, 'modelPreferences'>, organizationId: string | null) => {
  const settings = await settingsOf(context, organizationId)
  return capabilities.map(capability => chainOf(settings, capability))
}

export const shownPreference = async (context: Pick<Context, 'modelPreferences'>, organizationId: string | null, capability: Capability) =>
  preferenceOf(await settingsOf(context, organizationId), capability)

export const shownChain = async (context: Pick<Context, 'modelPreferences'>, organizationId: string | null, capability: Capability) =>
  chainOf(await settingsOf(context, organizationId), capability)
