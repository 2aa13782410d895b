import { expect, test } from 'vitest'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { updatePost } from '../documents.ts'

test('a locked row delays a change by five seconds, then it fails with a message to retry; others are unaffected', async () => {
  await using graph = await supergraph()
  const { owner, post } = await graph.seed.owner().brand().post()
  await inTransaction(graph.job, async ({ transaction }) => {
    await graph.job.posts.lock(post.id, transaction)
    const refused = await graph.execute(updatePost, { input: { id: post.id, copy: 'Waiting' } }, { as: owner })
    expect(refused.refused('RATE_LIMITED').extensions).toMatchObject({ retryAfter: 1 })
    expect((await graph.execute('{ posts { totalCount } }', {}, { as: owner })).data().posts.totalCount).toBe(1)
  })
  expect((await graph.execute(updatePost, { input: { id: post.id, copy: 'Now' } }, { as: owner })).data().updatePost.copy).toBe('Now')
})
