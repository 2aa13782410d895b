import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId } from '../../../../platform/ids.ts'
import { unanswered } from '../../../../platform/outbound/public.ts'
import { findMade, writing } from '../../../store/books.ts'
import { remove, write } from '../../../store/write.ts'
import { actorOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { AddPushSubscriptionInput, Resolvers } from '../../resolvers.generated.ts'
import type { PushSubscriptionRow } from '../../stores/inbox/push-subscription.ts'
import { hashOf, readSubscription, requireRoom } from './rules.ts'

async function add(context: Context, input: AddPushSubscriptionInput): Promise<PushSubscriptionRow> {
  const { viewer, pushSubscriptions, push, callersWay, isDevelopment } = context
  const userId = requirePerson(viewer)
  const subscribed = readSubscription(input, isDevelopment)
  const hash = hashOf(subscribed)
  if (!(await callersWay.reaches(new URL(subscribed.endpoint)).catch(unanswered('endpoint'))))
    throw new DomainError('BAD_USER_INPUT', 'endpoint lies on a private network, which is never called: take it as the browser gives it.', {
      field: 'endpoint',
    })
  const { row } = await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const own = await pushSubscriptions.lockOf(userId, transaction)
      const present = await pushSubscriptions.lockBrowser(hash, transaction)
      const same = present?.userId === userId ? present : null
      const id = same?.id ?? newId(now)
      const idempotency = readIdempotency(input)
      const earlier = idempotency && (await findMade(context[writing], pushSubscriptions, { tenantId: userId, id, ...idempotency }, unit))
      if (earlier ?? same) return { row: (earlier ?? same)!, isNew: false }
      requireRoom(own.length)
      // Whoever signs in with the browser now gets what it shows.
      if (present) await pushSubscriptions.end(present.id, transaction)
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      const row = await pushSubscriptions.insert({ id, userId, hash, sealed: push.seal(id, subscribed), ...stamps }, transaction)
      return { row, isNew: true }
    },
    audit: ({ row, isNew }) => (isNew ? { tenantId: userId, action: 'push_subscription.created', subjectId: row.id } : null),
  })
  return row
}

export const pushSubscriptionResolvers: Resolvers = {
  Mutation: {
    addPushSubscription: (_, { input }, context) => add(context, input),
    removePushSubscription(_, { input: { id } }, context) {
      const userId = requirePerson(context.viewer)
      return remove(context, {
        of: context.pushSubscriptions,
        id,
        audit: row => ({ tenantId: userId, action: 'push_subscription.deleted', subjectId: row.id }),
      })
    },
  },
}
