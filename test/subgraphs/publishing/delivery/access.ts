import { failure } from '../../../../subgraphs/publishing/delivery/failure.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type AccessRows, accounts, byScope, change, type Fresh, type Ids, readPosts, row, writePosts, writers } from '../../../access/row.ts'
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

/** A post that waits for its time. */
const scheduledPost: Fresh = async ({ graph, owner, ids }) =>
  (await seedPost(graph, { brandId: ids.brand!, owner }, { scheduledAt: graph.clock.in(86_400_000) })).id
const draft: Fresh = async ({ graph, owner, ids }) => (await seedPost(graph, { brandId: ids.brand!, owner })).id

const act = (verb: string, fresh: Fresh, body?: object) =>
  ({
    at: `POST /publishing/api/posts/:id/${verb}`,
    scopes: writePosts,
    less: readPosts,
    cells: writers,
    path: (ids: Ids) => `/publishing/api/posts/${ids.fresh}/${verb}`,
    ...(body && { body: () => body }),
    fresh,
  }) as const

export const access: AccessRows = {
  async made({ graph, owner, ids }) {
    const comment = { firstComment: 'First', firstCommentStatus: 'PENDING' } as const
    const { id: attempted } = await seedPost(graph, { brandId: ids.brand!, owner }, { row: comment })
    const post = (await graph.job.posts.byId.load(attempted))!
    await inTransaction(graph.job, unit =>
      graph.job.attempts.begin({ post, connectionId: null, externalAccountId: 'nobody', copy: 'x', inReplyTo: null }, unit),
    )
    return { attempted }
  },
  fields: [
    row(
      'Mutation.publishPost',
      writePosts,
      readPosts,
      writers,
      change('publishPost', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'publishPost',
      draft,
    ),
    row(
      'Mutation.cancelPost',
      writePosts,
      readPosts,
      writers,
      change('cancelPost', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'cancelPost',
      scheduledPost,
    ),
    row(
      'Post.deliveryAttempts',
      readPosts,
      accounts,
      byScope,
      ({ attempted }) => `{ post(id: "${attempted}") { deliveryAttempts { number } } }`,
      'post.deliveryAttempts',
    ),
    row('Post.firstComment', readPosts, accounts, byScope, ({ attempted }) => `{ post(id: "${attempted}") { firstComment { text } } }`, 'post.firstComment'),
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
  routes: [act('publish', draft), act('cancel', scheduledPost), act('resolve', unknownPost, { platformPostId: null })],
}
