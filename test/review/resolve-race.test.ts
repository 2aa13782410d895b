import { expect, test } from 'vitest'
import { supergraph } from '../kit/supergraph.ts'
import { wake } from '../subgraphs/publishing/delivering.ts'
import { resolveDelivery } from '../subgraphs/publishing/documents.ts'

test('resolveDelivery of several posts to one network id at once: one wins, the others are CONFLICT', async () => {
  const graph = await supergraph({ sandbox: true })
  await using _ = graph
  const scheduledAt = graph.clock.in(60_000)
  const { owner, posts } = await graph.seed.owner().brand().connection().posts(4, { scheduledAt })
  await graph.clock.advance(60_000)
  await graph.x.arm({ fault: 'status', status: 500, times: 4 })
  for (const post of posts) await wake(graph, post)
  const answers = await Promise.all(posts.map(({ id }) => graph.execute(resolveDelivery, { input: { id, platformPostId: '55501' } }, { as: owner })))
  const codes = answers.flatMap(({ partial }) => partial.errors.map(error => error.extensions?.code))
  expect(codes).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT'])
})
