import { activeOrganization } from '../brand/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { dayOf, payload, weekBegin } from './rules.ts'

export const widgetResolvers: Resolvers = {
  Query: {
    publishingWidget: async (_, __, { viewer, widget, clock, publicUrl }) => {
      const organizationId = activeOrganization(viewer, 'Posts')
      const now = clock.now()
      return payload(await widget.facts(organizationId, now, dayOf(now), weekBegin(now)), publicUrl)
    },
  },
}
