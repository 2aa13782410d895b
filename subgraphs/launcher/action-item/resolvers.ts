import { mapEvents } from '../../../platform/events.ts'
import { change } from '../../store/write.ts'
import { actorOf, requirePerson } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { announceItem, completing, requireMayChange, topicsFor } from './rules.ts'

export const actionItemResolvers: Resolvers = {
  Query: {
    actionItem: (_, { id }, { actionItems }) => actionItems.require(id),
    actionItems: (_, page, { viewer, actionItems }) =>
      viewer.organizationId ? actionItems.page('ofOrganization', viewer.organizationId, page) : actionItems.page('ofPerson', requirePerson(viewer), page),
  },

  Mutation: {
    async completeActionItem(_, { input: { id, expectedVersion } }, context) {
      const { viewer, actionItems, events } = context
      requireMayChange(viewer)
      const actor = actorOf(viewer)
      return change(context, {
        of: actionItems,
        id,
        expectedVersion,
        decide: (item, { now }) => completing(item, now, actor),
        audit: ({ after }) => ({ tenantId: after.organizationId ?? after.userId!, action: 'action_item.completed', subjectId: after.id }),
        announce: ({ after }) => announceItem(events, after),
      })
    },
  },

  Subscription: {
    actionQueueChanged: {
      subscribe: (_, __, { viewer, events }) => mapEvents(events.listen(topicsFor(viewer)), event => ({ id: event.id! })),
      // Read for each event, so the viewer's present rights apply.
      resolve: ({ id }: { id: string }, _: unknown, { actionItems }: Context) => actionItems.byId.load(id),
    },
  },

  ActionItem: {
    __resolveReference: ({ id }, { actionItems }) => actionItems.byId.load(id),
    subject: ({ app, subjectId }) => ({ service: app, id: subjectId }),
  },
}
