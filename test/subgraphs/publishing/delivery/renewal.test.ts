import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { sendAfter } from '../../../../subgraphs/publishing/delivery/renewal.ts'
import { claimMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { GrantFailure } from '../../../../subgraphs/publishing/network/network.ts'
import { postStatusTopic } from '../../../../subgraphs/publishing/news/announce.ts'
import type { PostRow } from '../../../../subgraphs/publishing/stores/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { logged, stored } from './delivering.ts'

/** A post that a worker has claimed whose token has to be renewed first. */
async function claimed() {
  const graph = await supergraph()
  const claim = { deliveryPhase: 'CLAIMED' as const, claimId: newId(), claimUntil: graph.clock.in(claimMs) }
  const { post } = await graph.seed
    .owner()
    .brand()
    .post({ row: { status: 'SCHEDULED', scheduledAt: graph.clock.now(), ...claim } })
  return { graph, post }
}

/** Leaves a post to a renewal, and waits until what follows from its end is done. */
async function follow({ job }: Supergraph, post: PostRow, renewal: Promise<string>): Promise<void> {
  sendAfter(job, post, renewal)
  expect(job.afterRenewals.size).toBe(1)
  await Promise.all(job.afterRenewals)
  expect(job.afterRenewals.size, 'left behind').toBe(0)
}

const wakeUps = (graph: Supergraph) => graph.rows(`select data->>'postId' as id, start_after from publishing_jobs.job where name = 'deliver-post'`)

test('a post whose token was renewed is released and processed at once, and its subscribers are notified', async () => {
  const { graph, post } = await claimed()
  await using _ = graph
  const followed = graph.job.events.listen([postStatusTopic(post.brandId)])
  const heard: unknown[] = []
  void followed.next().then(({ value }) => heard.push(value))
  await follow(graph, post, Promise.resolve('a token'))
  await turn()
  expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', claimId: null, claimUntil: null, version: post.version })
  await followed.return()
  expect([await wakeUps(graph), heard]).toEqual([[{ id: post.id, start_after: graph.clock.now() }], [{ postId: post.id, threadId: post.threadId }]])
})

test('a post whose token could not be renewed waits, or fails when only a person can help', async () => {
  for (const [permanent, state] of [
    [false, { status: 'SCHEDULED', waits: 1, failureCode: null }],
    [true, { status: 'FAILED', waits: 0, failureCode: 'CONNECTION_EXPIRED', attempts: 1 }],
  ] as const) {
    const { graph, post } = await claimed()
    await using _ = graph
    await follow(graph, post, Promise.reject(new GrantFailure('The network says no.', permanent)))
    expect(await stored(graph, post)).toMatchObject({ ...state, deliveryPhase: 'NONE' })
    expect(logged(graph)).toEqual([])
  }
})

test('an unexpected failure of a renewal is logged, and the claim expires by itself', async () => {
  const { graph, post } = await claimed()
  await using _ = graph
  await follow(graph, post, Promise.reject(new TypeError('what nobody thought of')))
  expect(await stored(graph, post)).toEqual(post)
  expect(logged(graph)).toMatchObject([{ postId: post.id, err: { message: 'what nobody thought of' } }])
})

test('a post that another worker has when the renewal ends, or a deleted one, is left alone', async () => {
  const { graph, post } = await claimed()
  await using _ = graph
  await follow(graph, { ...post, claimId: newId() }, Promise.resolve('a token'))
  expect(await stored(graph, post)).toEqual(post)
  await inTransaction(graph.job, ({ transaction }) => graph.job.posts.remove(post, transaction))
  await follow(graph, post, Promise.resolve('a token'))
  expect([await wakeUps(graph), logged(graph)]).toEqual([[], []])
})
