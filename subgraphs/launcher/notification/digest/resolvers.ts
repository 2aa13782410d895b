import { DomainError } from '../../../../platform/errors.ts'
import { ratesIn } from '../../../../platform/sql/rates.ts'
import { writing } from '../../../store/books.ts'
import { create, findEarlier } from '../../../store/write.ts'
import { actorOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { ratesTable } from '../../engines/visitors/visitors.ts'
import type { Resolvers, SendNotificationDigestInput } from '../../resolvers.generated.ts'
import type { NotificationDigestRow } from '../../stores/inbox/digest.ts'
import { queueDigest, readDigest } from './send.ts'

/** How often a person may have a digest sent. */
const limit = { max: 6, windowMs: 3_600_000 } as const

const take = ratesIn(ratesTable)

/** Sends the viewer a digest now. @throws RATE_LIMITED; CONFLICT without a verified mail address */
async function sendNow(context: Context, input: SendNotificationDigestInput): Promise<NotificationDigestRow> {
  const { viewer, digests } = context
  const userId = requirePerson(viewer)
  const earlier = await findEarlier(context, { of: digests, once: input, tenantId: userId })
  if (earlier) return earlier
  const { sequelize, clock } = context[writing]
  const waitMs = await take(sequelize, { key: `digest ${userId}`, ...limit }, clock.now())
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1_000)
    throw new DomainError('RATE_LIMITED', `You had ${limit.max} digests sent within an hour: go on in ${retryAfter} seconds.`, { retryAfter })
  }
  const digest = await readDigest(context, userId)
  if (!digest) throw new DomainError('CONFLICT', 'Your mail address is not verified, so nothing can be sent to it: verify it first.')
  const { row } = await create(context, {
    of: digests,
    once: input,
    tenantId: userId,
    async run(unit, id) {
      const sent = await queueDigest(context, id, digest, unit)
      const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: actorOf(viewer) }
      return { id, userId, sent, openItems: digest.open, unreadNotifications: digest.unread, ...stamps }
    },
    audit: ({ id, sent }) => (sent ? { tenantId: userId, action: 'notification_digest.sent', subjectId: id } : null),
  })
  return row
}

export const digestResolvers: Resolvers = {
  Mutation: {
    sendNotificationDigest: (_, { input }, context) => sendNow(context, input),
  },
}
