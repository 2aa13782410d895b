import { Refusal } from '../../../platform/errors.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { dayOf, payload, weekBegin } from './rules.ts'

export const widgetResolvers: Resolvers = {
  Query: {
    publishingWidget: async (_, __, { viewer, widget, clock, publicUrl }) => {
      if (!viewer.organizationId) throw new Refusal('FORBIDDEN', 'Posts belong to an organization and none is active: switch to one first.')
      const now = clock.now()
      return payload(await widget.facts(viewer.organizationId, now, dayOf(now), weekBegin(now)), publicUrl)
    },
  },
}
