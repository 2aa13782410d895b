import { UniqueConstraintError } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import type { Base, Noun } from '../../wiring/define.ts'
import type { Job, Services } from '../context.ts'
import type { PublishingSettings } from '../registration.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { requireInUse } from '../stores/brand.ts'
import { sendComment } from './comment.ts'
import { conclude } from './conclude.ts'
import { deliver } from './deliver.ts'
import { publishFailedBefore } from './failed-before.ts'
import { closeAsAbsent } from './reconcile.ts'
import { renewalsEnded } from './renewal.ts'
import { agingOf } from './retention.ts'
import { attemptSeen } from './rules.ts'
import { sweeps } from './sweep.ts'
import { commentQueue, deliverQueue } from './wake-up.ts'

export const deliveryResolvers: Resolvers = {
  Mutation: {
    resolveDelivery: async (_, { input }, context) => {
      const post = await context.posts.require(input.id)
      const { id } = post
      requireInUse(await context.brands.require(post.brandId))
      const attempt = await context.attempts.lastAttempt(post)
      const known = () =>
        new DomainError('CONFLICT', `The outcome of post ${id} is known: it is ${post.status}.`, { reason: 'ILLEGAL_MOVE', status: post.status })
      if (post.deliveryPhase !== 'UNKNOWN' || !attempt) throw known()
      const platformPostId = input.platformPostId ?? null
      if (platformPostId === null) {
        const closed = await closeAsAbsent(context, post, attempt)
        if (!closed) throw known()
        return closed
      }
      const network = context.networks.get(post.platform)
      const connection = await context.connections.find(attempt.connectionId)
      const permalink = network?.permalink(connection?.accountName ?? '', platformPostId) ?? null
      if (!permalink)
        throw new DomainError('BAD_USER_INPUT', `${platformPostId} is not an id of ${post.platform}: copy it from the post’s address there.`, {
          field: 'platformPostId',
        })
      const settled = await conclude(context, attempt, { outcome: 'delivered', platformPostId, permalink }).catch(error => {
        if (!(error instanceof UniqueConstraintError)) throw error
        throw new DomainError('CONFLICT', `Another post of this account is ${platformPostId} on ${post.platform}: look the id up again.`, {
          field: 'platformPostId',
        })
      })
      if (!settled) throw known()
      return settled
    },
  },

  Post: {
    deliveryAttempts: async (post, _, { attempts }) =>
      (await attempts.ofPost.load(`${post.brandId}:${post.id}`)).map(attempt => {
        const { number, startedAt, finishedAt, detail } = attempt
        const seen = attemptSeen(attempt, post)
        return { number, startedAt, endedAt: seen.outcome && finishedAt, ...seen, detail }
      }),
  },
}

interface At extends Base<Job, Pick<PublishingSettings, 'retention'>> {
  readonly services: Services
}

/** Delivery of posts to networks, and retention of publishing's tables. */
export const delivery: Noun<At> = {
  resolvers: deliveryResolvers,
  queues: ({ job }) => [deliverQueue(key => deliver(job('delivery'), key)), commentQueue(key => sendComment(job('delivery'), key))],
  sweeps: ({ job }) => sweeps(() => job('delivery')),
  retention: ({ settings }) => agingOf(settings.retention),
  start: ({ job, log }) =>
    publishFailedBefore(() => job('delivery')).catch(error =>
      log.error({ err: error }, 'facts about posts that failed earlier could not be published; the next start retries'),
    ),
  // A network issues a renewed token only once, so running renewals are stored before the pools close.
  stop: ({ services }) => renewalsEnded(services),
}
