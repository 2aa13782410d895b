import { UniqueConstraintError } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { actorOf } from '../audit.ts'
import { requireInUse } from '../brand/rules.ts'
import { ownedPost } from '../post/change.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { conclude } from './conclude.ts'
import { closeAsAbsent } from './reconcile.ts'

export const deliveryResolvers: Resolvers = {
  Mutation: {
    resolveDelivery: async (_, { input }, context) => {
      const id = requireId(input.id, 'id')
      const { post, brand } = await ownedPost(context, id)
      requireInUse(brand)
      const attempt = await context.deliveries.lastAttempt(post)
      const known = () => new Refusal('CONFLICT', `The outcome of post ${id} is known: it is ${post.status}.`, { status: post.status })
      if (post.deliveryPhase !== 'UNKNOWN' || !attempt) throw known()
      const platformPostId = input.platformPostId ?? null
      if (platformPostId === null) {
        const closed = await closeAsAbsent(context, post, attempt, actorOf(context.viewer))
        if (!closed) throw known()
        return closed
      }
      const network = context.networks.get(post.platform)
      const [connection] = await context.connections.byIds(attempt.connectionId ? [attempt.connectionId] : [])
      const permalink = network?.permalink(connection?.accountName ?? '', platformPostId) ?? null
      if (!permalink)
        throw new Refusal('BAD_USER_INPUT', `${platformPostId} is not an id of ${post.platform}: copy it from the post’s address there.`, {
          field: 'platformPostId',
        })
      const settled = await conclude(context, attempt, { outcome: 'delivered', platformPostId, permalink }, actorOf(context.viewer)).catch(error => {
        if (!(error instanceof UniqueConstraintError)) throw error
        throw new Refusal('CONFLICT', `Another post of this account is ${platformPostId} on ${post.platform}: look the id up again.`, {
          field: 'platformPostId',
        })
      })
      if (!settled) throw known()
      return settled
    },
  },
}
