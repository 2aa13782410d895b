import { DomainError } from '../../../../platform/errors.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization, isPerson, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { deadKey } from '../../engines/webhook/rules.ts'
import type { ReplayWebhookEventInput, Resolvers } from '../../resolvers.generated.ts'
import type { WebhookEventRow } from '../../stores/events/webhook-event.ts'

/** The roles that exist in the organization alone that looks after the platform. */
const platformRoles = ['platform_super_admin', 'platform_admin']

/** Sees to it that whoever looks after the platform finds the events that belong to nobody, also where the organization was made before this was kept. */
async function rememberPlatform(viewer: Viewer, events: Context['webhookEvents']): Promise<void> {
  if (!isPerson(viewer) || !viewer.organizationId || !viewer.roles.some(role => platformRoles.includes(role))) return
  await events.learnPlatform(viewer.organizationId)
}

/** Statuses of which an event can be processed again. */
const replayable: ReadonlySet<WebhookEventRow['status']> = new Set(['FAILED', 'DEAD', 'IGNORED'])

/** @throws CONFLICT, reason ILLEGAL_MOVE, for an event that was taken in or is about to be */
export function requireReplayable({ status: from }: Pick<WebhookEventRow, 'status'>): void {
  if (replayable.has(from)) return
  throw new DomainError('CONFLICT', `The event is ${from}: only one that is FAILED, DEAD or IGNORED is processed again.`, {
    ...{ reason: 'ILLEGAL_MOVE', from, verb: 'replay', possible: [] },
  })
}

/** Has an event processed again as if it had just come; once for each key. */
async function replay(context: Context, input: ReplayWebhookEventInput): Promise<WebhookEventRow> {
  const { viewer, webhookEvents, processing } = context
  const tenantId = activeOrganization(viewer, 'Events')
  return change(context, {
    of: webhookEvents,
    id: input.id,
    once: { what: 'replayWebhookEvent', tenantId, input },
    decide(event, { now }) {
      requireReplayable(event)
      return { status: 'RECEIVED' as const, reason: null, attempts: 0, processedAt: null, nextAttemptAt: now }
    },
    audit: ({ before, after: { id } }) => ({
      tenantId,
      action: 'webhook_event.replayed',
      subjectId: id,
      details: { changes: [{ field: 'status', before: before.status, after: 'RECEIVED' }] },
    }),
    facts: ({ before }): readonly NewFact[] => (before.status === 'DEAD' ? [{ kind: 'attention.closed', body: { key: deadKey(before.id) } }] : []),
    announce: () => processing.wake(),
  })
}

export const webhookEventResolvers: Resolvers = {
  Query: {
    async webhookEvent(_, { id }, { viewer, webhookEvents }) {
      await rememberPlatform(viewer, webhookEvents)
      return webhookEvents.require(id)
    },
    async webhookEvents(_, { status, type, processorEventId, ...page }, { viewer, webhookEvents }) {
      activeOrganization(viewer, 'Events')
      await rememberPlatform(viewer, webhookEvents)
      return webhookEvents.filtered({ status, type, processorEventId }, page)
    },
  },
  Mutation: {
    replayWebhookEvent: (_, { input }, context) => replay(context, input),
  },
  WebhookEvent: {
    __resolveReference: ({ id }, { webhookEvents }) => webhookEvents.byId.load(id),
    receivedAt: ({ createdAt }) => createdAt,
    order: ({ orderId }, _, { orders }) => orders.find(orderId),
  },
}
