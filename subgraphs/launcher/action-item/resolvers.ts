import { DomainError } from '../../../platform/errors.ts'
import { mapEvents } from '../../../platform/events.ts'
import { readPage } from '../../../platform/page.ts'
import { personOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { QueryActionItemsArgs, Resolvers } from '../resolvers.generated.ts'
import { type ItemFilter, severeOrder } from '../stores/inbox/action-item-list.ts'
import { each } from './bulk.ts'
import { requireMayChange, requireOwner, topicsFor } from './rules.ts'
import { assign, complete, reopen, snooze } from './verbs.ts'

function filterOf({ status, app, kind, severity, assignedToMe }: Partial<QueryActionItemsArgs>): ItemFilter {
  if (status?.length === 0) throw new DomainError('BAD_USER_INPUT', 'status names none: omit it for what waits.', { field: 'status' })
  return {
    status: [...new Set(status ?? (['OPEN'] as const))].sort(),
    app: app ?? null,
    kind: kind ?? null,
    severity: severity ?? null,
    isMine: assignedToMe ?? false,
  }
}

export const actionItemResolvers: Resolvers = {
  Query: {
    actionItem: (_, { id }, { actionItems }) => actionItems.require(id),
    actionItems(_, given, { viewer, actionItems }) {
      requireOwner(viewer)
      return actionItems.list(filterOf(given), readPage(given, severeOrder))
    },
    actionCounts(_, __, { viewer, actionItems }) {
      requireOwner(viewer)
      return actionItems.counts()
    },
  },

  Mutation: {
    completeActionItem: (_, { input }, context) => complete(context, input),
    completeActionItems(_, { input: { ids } }, context) {
      requireMayChange(context.viewer)
      return each(context, ids, id => complete(context, { id }))
    },
    reopenActionItem: (_, { input }, context) => reopen(context, input),
    assignActionItem: (_, { input }, context) => assign(context, input),
    snoozeActionItem: (_, { input }, context) => snooze(context, input),
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
    status: async ({ id, status }, _, { snoozes }) => (status === 'OPEN' && (await snoozes.untilOf(id)) ? 'SNOOZED' : status),
    snoozedUntil: ({ id, status }, _, { snoozes }) => (status === 'OPEN' ? snoozes.untilOf(id) : null),
    assignee: ({ assigneeId }) => (assigneeId ? { __typename: 'User', id: assigneeId } : null),
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
    closedBy({ closedBy }) {
      const id = closedBy === null ? null : personOf(closedBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
}
