import { rolesToGraph } from '../membership/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { kindToGraph } from './rules.ts'

export const viewerResolvers: Pick<Resolvers, 'Viewer'> & { Query: Pick<NonNullable<Resolvers['Query']>, 'viewer'> } = {
  Query: {
    viewer: (_, _arguments, { viewer }) => ({ kind: kindToGraph[viewer.kind], roles: rolesToGraph(viewer.roles), scopes: viewer.scopes }),
  },
  Viewer: {
    user: (_, _arguments, { viewer, users }) => (viewer.userId ? users.byId.load(viewer.userId) : null),
    organization: (_, _arguments, { viewer, organizations }) => (viewer.organizationId ? organizations.byId.load(viewer.organizationId) : null),
  },
}
