import { activeOrganization } from '../brand/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { payload } from './rules.ts'

export const widgetResolvers: Resolvers = {
  Query: {
    publishingWidget: async (_, __, { viewer, widgetFacts, publicUrl }) => payload(await widgetFacts.load(activeOrganization(viewer, 'Posts')), publicUrl),
  },
}
