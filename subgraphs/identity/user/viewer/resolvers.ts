import { rolesToGraph } from '../../membership/rules.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { kindToGraph } from './rules.ts'

export const viewerResolvers: Resolvers = {
  Query: {
    viewer: (_, _arguments, { viewer }) => ({
      kind: kindToGraph[viewer.kind],
      context: viewer.context === 'personal' ? 'PERSONAL' : 'ORGANIZATION',
      appId: viewer.appId,
      roles: rolesToGraph(viewer.roles),
      scopes: viewer.scopes,
    }),
  },
  Viewer: {
    user: (_, _arguments, { viewer, users }) => users.find(viewer.userId),
    organization: (_, _arguments, { viewer, organizations }) => organizations.find(viewer.organizationId),
  },
}
