import { DomainError } from '../../../platform/errors.ts'
import { checkSameContent } from '../../../platform/idempotency.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { change, create, remove } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { type ProviderName, providerOf } from '../engines/third-party/catalogue.ts'
import type { CreateCredentialInput, DeleteCredentialInput, RotateCredentialInput, UpdateCredentialInput } from '../resolvers.generated.ts'
import type { CredentialRow } from '../stores/credential/credential.ts'
import { announceCredential, factsOf } from './announce.ts'
import { requirePublic } from './places.ts'
import {
  type Fields,
  type GivenField,
  mask,
  readBaseUrl,
  readFields,
  readGrace,
  readMailHost,
  readName,
  readRotated,
  requirePlatformChanger,
  requireProvider,
} from './rules.ts'

/** The audit entry of a change; the actor is added by the write path. */
export const lineOf = (tenantId: string, action: string, { id, provider, level }: CredentialRow) => ({
  tenantId,
  action,
  subjectId: id,
  details: { provider, level },
})

/** Invalidates caches of credentials in use, and updates an organization's widget. */
export const announceOf =
  ({ credentialsInUse, events }: Context) =>
  (row: CredentialRow) => {
    credentialsInUse.forget()
    announceCredential(events, row)
  }

/** Reads the addresses of a new credential, and rejects internal ones. @throws BAD_USER_INPUT with the `field` */
async function readPlaces({ reaches }: Context, provider: ProviderName, input: CreateCredentialInput, fields: Fields) {
  const baseUrl = readBaseUrl(provider, input.baseUrl)
  if (baseUrl) await requirePublic(reaches, baseUrl, 'baseUrl')
  const mail = readMailHost(provider, fields, input.fields)
  if (mail) await requirePublic(reaches, mail.address, mail.field)
  return baseUrl && written(baseUrl)
}

const written = ({ href }: URL): string => href.replace(/\/$/, '')

/**
 * Returns the credential to be changed. The platform's are visible to everyone, so the error says that changing is
 * forbidden.
 * @throws FORBIDDEN; NOT_FOUND for another organization's
 */
export async function requireChangeable(
  { viewer, credentials, platformOrganization }: Context,
  id: string,
): Promise<{ readonly row: CredentialRow; readonly tenantId: string }> {
  const tenantId = activeOrganization(viewer, 'Credentials')
  if ((await credentials.levelOf(requireId(id, 'id'))) === 'PLATFORM') {
    requirePlatformChanger(viewer)
    await platformOrganization.learn(tenantId)
  }
  return { row: await credentials.require(id), tenantId }
}

/** Consequences of people's changes of a credential. */
const following = (context: Context, tenantId: string, action: string) => ({
  audit: ({ after }: { readonly after: CredentialRow }) => lineOf(tenantId, action, after),
  facts: ({ before, after }: { readonly before: CredentialRow; readonly after: CredentialRow }) => factsOf(before, after, context, tenantId),
  announce: ({ after }: { readonly after: CredentialRow }) => announceOf(context)(after),
})

/**
 * Returns the content that an idempotency key's hash covers, without the secret: a short one could be guessed from the
 * hash.
 */
const withoutSecret = ({ fields, ...input }: CreateCredentialInput, secret: string) => ({
  ...input,
  level: input.level ?? 'ORGANIZATION',
  fields: fields.map(({ name, value }: GivenField) => ({ name, value: name === secret ? null : value })),
})

/** Creates a credential; once for each idempotency key. */
export async function createCredential(context: Context, input: CreateCredentialInput): Promise<CredentialRow> {
  const { viewer, credentials, quotas } = context
  const tenantId = activeOrganization(viewer, 'Credentials')
  const level = input.level ?? 'ORGANIZATION'
  if (level === 'PLATFORM') {
    requirePlatformChanger(viewer)
    await context.platformOrganization.learn(tenantId)
  }
  const provider = requireProvider(input.provider)
  const name = readName(provider, input.name)
  const fields = readFields(provider, input.fields)
  const baseUrl = await readPlaces(context, provider, input, fields)
  const organizationId = level === 'PLATFORM' ? null : tenantId
  const { row, repeated } = await create(context, {
    of: credentials,
    once: withoutSecret(input, providerOf(provider).secret),
    tenantId,
    async run({ transaction, now }, id) {
      const { inAll, alike } = await credentials.ofOwner({ organizationId, provider, name }, transaction)
      if (alike > 0) throw isThere(provider, name)
      const most = { inAll: quotas.credentialsAnOrganization, aDay: Number.POSITIVE_INFINITY }
      requireQuota({ inAll, today: 0, todaySince: null }, most, 'credentials', 'remove one first', now)
      const sealed = { plain: fields.plain, secret: credentials.seal(id, fields.secret), masked: mask(fields.secret) }
      return { id, level, organizationId, provider, name, baseUrl, ...sealed, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: row => lineOf(tenantId, 'credential.created', row),
    announce: announceOf(context),
  })
  if (repeated && credentials.open(row) !== fields.secret) checkSameContent(null, { key: input.idempotencyKey!, hash: '' }, 'credential')
  return row
}

const isThere = (provider: ProviderName, name: string): DomainError =>
  provider === 'custom'
    ? new DomainError('CONFLICT', `There is a custom provider named ${name} already: choose another name, or remove that one first.`, { field: 'name' })
    : new DomainError('CONFLICT', `There is a credential of ${provider} already, and one is all there may be: remove it first.`, { field: 'provider' })

/** Changes a credential's name, address and activity. */
export async function updateCredential(context: Context, { id, name: givenName, active, baseUrl: givenUrl, expectedVersion }: UpdateCredentialInput) {
  const { credentials, reaches } = context
  const { row, tenantId } = await requireChangeable(context, id)
  const provider = row.provider as ProviderName
  const name = givenName === null || givenName === undefined ? null : readName(provider, givenName)
  const baseUrl = givenUrl === null || givenUrl === undefined ? null : readBaseUrl(provider, givenUrl)
  if (baseUrl) await requirePublic(reaches, baseUrl, 'baseUrl')
  return change(context, {
    of: credentials,
    id,
    expectedVersion,
    async before({ transaction }) {
      if (name === null || provider !== 'custom') return
      const { alike } = await credentials.ofOwner({ organizationId: row.organizationId, provider, name }, transaction, row.id)
      if (alike > 0) throw isThere(provider, name)
    },
    decide(present) {
      const leads = baseUrl && written(baseUrl) !== present.baseUrl ? { baseUrl: written(baseUrl) } : null
      const isOut = active === false || (active !== true && present.status === 'DISABLED')
      const isNew = leads || (present.status === 'DISABLED' && !isOut)
      return {
        ...(name !== null && { name }),
        // The former secret belonged to another server.
        ...(leads && { ...leads, previousSecret: null, graceEndsAt: null }),
        ...(isOut ? { status: 'DISABLED' as const } : isNew && { status: 'UNTESTED' as const, testMessage: null }),
      }
    },
    ...following(context, tenantId, 'credential.updated'),
  })
}

/** Replaces a credential's secret; the former one stays valid for a while. */
export async function rotateCredential(context: Context, { id, fields: given, graceSeconds, expectedVersion }: RotateCredentialInput) {
  const { credentials, reaches } = context
  const { row, tenantId } = await requireChangeable(context, id)
  const provider = row.provider as ProviderName
  const seconds = readGrace(graceSeconds)
  const fields = readRotated(provider, given, row.plain)
  const mail = readMailHost(provider, fields, given)
  if (mail) await requirePublic(reaches, mail.address, mail.field)
  return change(context, {
    of: credentials,
    id,
    expectedVersion,
    decide(present, { now }) {
      const plain = readRotated(provider, given, present.plain).plain
      const isSamePlace = Object.entries(plain).every(([name, value]) => present.plain[name] === value)
      // If the encryption key is missing there is no old secret to keep, so rotating is allowed.
      const before = isSamePlace && seconds > 0 ? openOrNone(() => credentials.open(present)) : null
      return {
        plain,
        secret: credentials.seal(present.id, fields.secret),
        masked: mask(fields.secret),
        previousSecret: before === null ? null : credentials.sealPrevious(present.id, before),
        graceEndsAt: before === null ? null : new Date(now.getTime() + seconds * 1_000),
        rotatedAt: now,
        testMessage: null,
        ...(present.status !== 'DISABLED' && { status: 'UNTESTED' as const }),
      }
    },
    ...following(context, tenantId, 'credential.rotated'),
  })
}

function openOrNone(open: () => string): string | null {
  try {
    return open()
  } catch {
    return null
  }
}

/** Removes a credential. */
export async function deleteCredential(context: Context, { id, expectedVersion }: DeleteCredentialInput): Promise<CredentialRow> {
  const { tenantId } = await requireChangeable(context, id)
  return remove(context, {
    of: context.credentials,
    id,
    expectedVersion,
    audit: row => lineOf(tenantId, 'credential.deleted', row),
    facts: row => factsOf(row, null, context),
    announce: announceOf(context),
  })
}
