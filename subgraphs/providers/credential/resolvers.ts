import { Refusal } from '../../../platform/errors.ts'
import { checkSameContent } from '../../../platform/idempotency.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { readPage } from '../../../platform/page.ts'
import { create, remove } from '../../store/write.ts'
import { widgetTopic } from '../../subgraph.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { CreateCredentialInput, DeleteCredentialInput, Resolvers } from '../resolvers.generated.ts'
import { type CredentialRow, oldestFirst } from '../stores/credential.ts'
import { type ProviderName, providerOf } from './catalogue.ts'
import {
  type GivenField,
  mask,
  providersWhere,
  readBaseUrl,
  readFields,
  readMailHost,
  readName,
  requirePlatformChanger,
  requirePlatformReader,
  requireProvider,
  shownFields,
} from './rules.ts'

/** What stands in the record of who did what: whose, by whom is known. */
const lineOf = (tenantId: string, action: string, { id, provider, level }: CredentialRow) => ({
  tenantId,
  action,
  subjectId: id,
  details: { provider, level },
})

/** The widget of an organization counts its credentials. */
const announceOf =
  (context: Context) =>
  ({ organizationId }: CredentialRow) =>
    organizationId === null ? undefined : context.events.announce(widgetTopic('providers', organizationId), { app: 'providers' })

/** Reads where a new credential leads to, and sees to it that this is no place inside. @throws BAD_USER_INPUT with the `field` */
async function readPlaces({ reaches }: Context, provider: ProviderName, input: CreateCredentialInput, fields: ReturnType<typeof readFields>) {
  const baseUrl = readBaseUrl(provider, input.baseUrl)
  const mail = readMailHost(provider, fields, input.fields)
  for (const { address, field } of [...(baseUrl ? [{ address: baseUrl, field: 'baseUrl' }] : []), ...(mail ? [mail] : [])])
    if (!(await reaches(address)))
      throw new Refusal('BAD_USER_INPUT', `${field} leads to a private address, which is not called from here: name a public one.`, { field })
  return baseUrl?.href.replace(/\/$/, '') ?? null
}

/** What an idempotency key stands for, of which a hash is kept: a short secret could be guessed by that, so there is none in it. */
const withoutSecret = ({ fields, ...input }: CreateCredentialInput, secret: string) => ({
  ...input,
  level: input.level ?? 'ORGANIZATION',
  fields: fields.map(({ name, value }: GivenField) => ({ name, value: name === secret ? null : value })),
})

/** Keeps a credential; once for each key. */
async function createCredential(context: Context, input: CreateCredentialInput): Promise<CredentialRow> {
  const { viewer, credentials, quotas } = context
  const tenantId = activeOrganization(viewer, 'Credentials')
  const level = input.level ?? 'ORGANIZATION'
  if (level === 'PLATFORM') requirePlatformChanger(viewer)
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

const isThere = (provider: ProviderName, name: string): Refusal =>
  provider === 'custom'
    ? new Refusal('CONFLICT', `There is a custom provider named ${name} already: choose another name, or remove that one first.`, { field: 'name' })
    : new Refusal('CONFLICT', `There is a credential of ${provider} already, and one is all there may be: remove it first.`, { field: 'provider' })

/** Removes a credential. Of the platform's everybody is told that they may not, and not that there is none. */
async function deleteCredential(context: Context, { id, expectedVersion }: DeleteCredentialInput): Promise<CredentialRow> {
  const { viewer, credentials } = context
  const tenantId = activeOrganization(viewer, 'Credentials')
  if ((await credentials.levelOf(requireId(id, 'id'))) === 'PLATFORM') requirePlatformChanger(viewer)
  return remove(context, {
    of: credentials,
    id,
    expectedVersion,
    audit: row => lineOf(tenantId, 'credential.deleted', row),
    announce: announceOf(context),
  })
}

export const credentialResolvers: Resolvers = {
  Query: {
    credential: (_, { id }, { credentials }) => credentials.require(id),
    credentials: async (_, { provider, family, level, ...page }, { viewer, credentials }) => {
      activeOrganization(viewer, 'Credentials')
      if (level === 'PLATFORM') requirePlatformReader(viewer)
      const named = provider === null || provider === undefined ? null : requireProvider(provider)
      const filter = { level: level ?? 'ORGANIZATION', providers: providersWhere(family ?? null, named) }
      return credentials.filtered(filter, readPage(page, oldestFirst))
    },
  },
  Mutation: {
    createCredential: (_, { input }, context) => createCredential(context, input),
    deleteCredential: (_, { input }, context) => deleteCredential(context, input),
  },
  Credential: {
    __resolveReference: ({ id }, { credentials }) => credentials.byId.load(id),
    family: ({ provider }) => providerOf(provider).family,
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
    fields: credential => shownFields(credential),
  },
  Organization: {
    __resolveReference: ({ id }) => ({ id }),
    // One that is not the active one shows nothing, as if it had no credentials.
    credentials: ({ id }, page, { credentials }) => credentials.page('all', id, page),
  },
}
