import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { payload } from './rules.ts'

export const widgetResolvers: Resolvers = {
  Query: {
    agentsWidget: async (_, __, { viewer, widget, publicUrl }) =>
      payload(await widget.facts.load(activeOrganization(viewer, 'Workflows and their runs')), publicUrl),
  },
}
