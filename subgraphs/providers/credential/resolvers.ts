import { activeOrganization } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { providerOf } from '../engines/third-party/catalogue.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { createCredential, deleteCredential, rotateCredential, updateCredential } from './changes.ts'
import { providersWhere, requirePlatformReader, requireProvider, shownFields } from './rules.ts'
import { testCredential } from './tested.ts'

/** Returns how calls of a provider find their credential, with the credential itself for viewers who may read it. */
async function resolutionOf({ viewer, credentials }: Context, given: string) {
  const organizationId = activeOrganization(viewer, 'Credentials')
  const provider = requireProvider(given)
  const row = await credentials.inUse(provider, organizationId, null)
  return { provider, level: row?.level ?? null, credential: row && (await credentials.byId.load(row.id)) }
}

export const credentialResolvers: Resolvers = {
  Query: {
    credential: (_, { id }, { credentials }) => credentials.require(id),
    credentials: async (_, { provider, family, level, ...page }, { viewer, credentials }) => {
      activeOrganization(viewer, 'Credentials')
      if (level === 'PLATFORM') requirePlatformReader(viewer)
      const named = provider === null || provider === undefined ? null : requireProvider(provider)
      return credentials.filtered({ level: level ?? 'ORGANIZATION', provider: providersWhere(family ?? null, named) }, page)
    },
    credentialResolution: (_, { provider }, context) => resolutionOf(context, provider),
  },
  Mutation: {
    createCredential: (_, { input }, context) => createCredential(context, input),
    updateCredential: (_, { input }, context) => updateCredential(context, input),
    rotateCredential: (_, { input }, context) => rotateCredential(context, input),
    testCredential: (_, { input }, context) => testCredential(context, input),
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
    // An organization that is not the active one shows no credentials.
    credentials: ({ id }, page, { credentials }) => credentials.page('all', id, page),
  },
}
