import { activeOrganization } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { payload } from './rules.ts'

export const widgetResolvers: Resolvers = {
  Query: {
    agentsWidget(_, __, { viewer }) {
      activeOrganization(viewer, 'Workflows and their runs')
      return payload
    },
  },
}
