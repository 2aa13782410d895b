import { isPerson } from '../../../viewer.ts'
import { LauncherServiceDocument } from '../../ask.generated.ts'
import { registration } from '../../registration.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { complete, readProgress } from './onboarding.ts'

export const workspaceResolvers: Resolvers = {
  Query: {
    workspace: (_, __, { viewer: { organizationId } }) => ({ organizationId }),
    onboarding: (_, __, context) => readProgress(context),
  },
  Mutation: {
    completeServiceOnboarding: (_, { input }, context) => complete(context, input),
  },
  Workspace: {
    context: ({ organizationId }) => (organizationId ? 'ORGANIZATION' : 'PERSONAL'),
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
    async service(_, __, { ask, viewer, leaving }) {
      const { service } = await ask(LauncherServiceDocument, {}, { appId: registration.appId, viewer, signal: leaving })
      return service && { __typename: 'ServiceEntry', id: service.id }
    },
    onboarding: (_, __, context) => (isPerson(context.viewer) ? readProgress(context) : null),
    links: (_, __, { dashboardUrl, developersUrl, developersWebUrl, marketing }) => ({
      apiKeys: `${dashboardUrl}/settings/keys`,
      households: `${dashboardUrl}/settings/households`,
      appCommerce: developersUrl === null ? null : `${dashboardUrl}/api/commerce`,
      developerSignup: developersWebUrl === null ? `${marketing.url}/developers/signup` : `${developersWebUrl}/signup`,
    }),
  },
}
