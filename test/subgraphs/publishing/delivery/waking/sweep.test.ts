import { expect, test } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { sendMs } from '../../../../../subgraphs/publishing/stores/pace.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../../kit/supergraph.ts'
import { logged, round, stored, texts, wake } from '../delivering.ts'

/** Two brands with so many posts each, all due for three seconds. */
const twoBrands = async (count: number) => {
  const graph = await supergraph({ sandbox: true })
  const scheduledAt = graph.clock.in(60_000)
  const one = await graph.seed.owner().brand('One').connection().posts(count, { scheduledAt })
  const other = await graph.seed.owner().brand('Other').connection().posts(count, { scheduledAt })
  await graph.clock.advance(63_000)
  return { graph, one, other }
}

const copies = (posts: readonly { copy: string }[]) => posts.map(({ copy }) => copy).sort()

test('a round sends four posts of each connection, the longest waiting first', async () => {
  const { graph, one, other } = await twoBrands(5)
  await using _ = graph
  await round(graph)
  expect((await texts(graph)).sort()).toEqual(copies([...one.posts.slice(0, 4), ...other.posts.slice(0, 4)]))
})

test('a post that cannot be processed delays no others, and is logged', async () => {
  const { graph, one } = await twoBrands(2)
  await using _ = graph
  const { connections } = graph.job
  const manyBy = connections.manyBy.bind(connections)
  Object.assign(connections, {
    manyBy: (column: 'brandId') => ({
      async load(id: string) {
        if (id === one.brand.id) throw new Error('what nobody thought of')
        return manyBy(column).load(id)
      },
    }),
  })
  await round(graph)
  expect(await texts(graph)).toHaveLength(2)
  expect(
    logged(graph)
      .map(({ postId }) => postId)
      .sort(),
  ).toEqual(one.posts.map(({ id }) => id).sort())
})

test('a due post is left to its own wake-up for two seconds', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(60_000) })
  await graph.clock.advance(61_999)
  await round(graph)
  expect(await texts(graph)).toEqual([])
  await graph.clock.advance(1)
  await round(graph)
  expect(await texts(graph)).toEqual([post.copy])
})

test('interrupted calls are taken up, and networks asked about unknown outcomes, each when due', async () => {
  await using graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner().brand().connection()
  const { post: unknown, connection } = await story.post({ scheduledAt: graph.clock.in(60_000) })
  const { post: interrupted } = await story.post()
  await graph.clock.advance(60_000)
  await graph.x.arm({ fault: 'accept-then-reset' })
  await wake(graph, unknown)
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  await inTransaction(graph.job, async ({ transaction }) => {
    await graph.job.attempts.begin({ ...account, post: interrupted, copy: interrupted.copy, inReplyTo: null }, { now: graph.clock.now(), transaction })
    const sending = { deliveryPhase: 'SENDING' as const, attempts: 1, claimId: newId(), claimUntil: graph.clock.in(sendMs) }
    await graph.job.posts.update(interrupted, { ...account, ...sending, status: 'SCHEDULED', scheduledAt: graph.clock.now() }, transaction)
  })
  const states = async () => [(await stored(graph, unknown)).status, (await stored(graph, interrupted)).status]
  await graph.clock.advance(999)
  await round(graph)
  expect(await states()).toEqual(['FAILED', 'SCHEDULED'])
  await graph.clock.advance(1)
  await round(graph)
  expect(await states()).toEqual(['PUBLISHED', 'SCHEDULED'])
  await graph.clock.advance(sendMs - 1_001)
  await round(graph)
  expect(await states()).toEqual(['PUBLISHED', 'SCHEDULED'])
  await graph.clock.advance(1)
  await round(graph)
  expect(await states()).toEqual(['PUBLISHED', 'PUBLISHED'])
})
