import { failure } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type AccessRows, change, type Fresh, readPosts, row, writePosts, writers } from '../../../access/row.ts'
import { seedPost } from '../post/seed.ts'

/** A post of which nobody knows whether the network has it. */
const unknownPost: Fresh = async ({ graph, owner, ids }) => {
  const { clock, job } = graph
  const row = { status: 'FAILED', deliveryPhase: 'UNKNOWN', attempts: 1, ...failure('OUTCOME_UNKNOWN', 'X', '', clock.now()) } as const
  const post = await seedPost(graph, { brandId: ids.brand!, owner }, { row })
  const attempt = { post: { ...post, attempts: 0 }, connectionId: null, externalAccountId: 'nobody', copy: 'x', inReplyTo: null }
  await inTransaction(job, unit => job.attempts.begin(attempt, unit))
  return post.id
}

export const access: AccessRows = {
  fields: [
    row(
      'Mutation.resolveDelivery',
      writePosts,
      readPosts,
      writers,
      change('resolveDelivery', ({ fresh }) => `id: "${fresh}", platformPostId: null`, 'id'),
      'resolveDelivery',
      unknownPost,
    ),
  ],
}
