import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { armCrash } from '../../../../platform/crash.ts'
import { sendComment } from '../../../../subgraphs/publishing/delivery/comment.ts'
import type { Comment, Delivery } from '../../../../subgraphs/publishing/network/publication.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { renewals, round, stored, wake } from './delivering.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

/** A published post whose comment is to follow, and what the network answers to that. */
async function begin(answers: Delivery[] = []) {
  const comment = { firstComment: 'More here', firstCommentStatus: 'PENDING' } as const
  const seeded = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(1_000), row: { ...comment, scheduledAt: graph.clock.now() } })
  const asked: Comment[] = []
  Object.assign(graph.job.networks.get('X')!, {
    comment: async (each: Comment): Promise<Delivery> => {
      asked.push(each)
      return answers.shift() ?? { outcome: 'delivered', platformPostId: '99', permalink: 'https://x.com/demo/status/99' }
    },
  })
  const { post } = seeded
  const send = () => sendComment(graph.job, { brandId: post.brandId, postId: post.id })
  await send()
  expect(asked, 'nothing is said before the post is there').toEqual([])
  await wake(graph, post)
  return { ...seeded, asked, send, row: () => stored(graph, post) }
}

test('P-13 a first comment follows its post, once, as the account that published it', async () => {
  const { asked, send, row, owner, post } = await begin()
  await send()
  await send()
  const { status, platformPostId, firstCommentId, version } = await row()
  expect(asked).toMatchObject([{ text: 'More here', platformPostId, target: null }])
  expect([status, firstCommentId, version]).toEqual(['PUBLISHED', '99', 3])
  const shown = await graph.execute('query($id: ID!) { post(id: $id) { firstComment { text status platformPostId message } } }', { id: post.id }, { as: owner })
  expect(shown.data().post.firstComment).toEqual({ text: 'More here', status: 'SENT', platformPostId: '99', message: null })
})

test.each([
  ['refused', { outcome: 'refused', code: 'CONTENT_REFUSED', detail: 'too long' }, 'FAILED'],
  ['left without an answer', { outcome: 'unknown', detail: 'silence' }, 'UNKNOWN'],
] as const)('P-13 a comment that is %s is never sent again, and its post stays published', async (_what, answer, firstCommentStatus) => {
  const { asked, send, row } = await begin([answer])
  await send()
  await send()
  expect(await row()).toMatchObject({ status: 'PUBLISHED', failureCode: null, firstCommentStatus, firstCommentMessage: answer.detail, firstCommentId: null })
  expect(asked).toHaveLength(1)
})

test('P-13 a comment whose call was certainly not made is retried for an hour', async () => {
  const unsent = { outcome: 'unsent', detail: 'refused' } as const
  const { asked, send, row } = await begin([unsent, unsent, unsent])
  expect(await send()).toEqual(graph.clock.in(30_000))
  expect(await row()).toMatchObject({ firstCommentStatus: 'PENDING' })
  await graph.clock.advance(30_000)
  await round(graph)
  expect(asked, 'the sweep finds it when its job is lost').toHaveLength(2)
  await graph.clock.advance(3_600_000)
  await send()
  expect([asked.length, await row()]).toMatchObject([3, { status: 'PUBLISHED', firstCommentStatus: 'FAILED' }])
})

test('P-13 a comment with a rejected token is sent with a renewed one', async () => {
  const { asked, send, row } = await begin([{ outcome: 'refused', code: 'ACCESS_EXPIRED', detail: 'expired' }])
  const before = renewals(graph)
  await send()
  expect([renewals(graph) - before, asked.length, (await row()).firstCommentStatus]).toEqual([1, 2, 'SENT'])
})

test.each([
  ['after-comment-row', 0],
  ['after-comment', 1],
] as const)('P-13 a crash %s leaves it unknown, and nobody sends it again', async (point, calls) => {
  const { asked, send, row } = await begin()
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('power failure')
  })
  armCrash(point)
  await expect(send()).rejects.toThrow('power failure')
  armCrash(null)
  kill.mockRestore()
  await graph.clock.advance(60_000)
  await round(graph)
  await send()
  expect([asked.length, await row()]).toMatchObject([calls, { status: 'PUBLISHED', firstCommentStatus: 'UNKNOWN' }])
})

test('P-13 one of two workers comments; a paused brand sends nothing until it is resumed', async () => {
  const { asked, send, row, brand } = await begin()
  await graph.rows('update publishing.brands set paused_at = $1 where id = $2', [graph.clock.now(), brand.id])
  await send()
  expect([asked.length, (await row()).firstCommentStatus]).toEqual([0, 'PENDING'])
  await graph.rows('update publishing.brands set paused_at = null where id = $1', [brand.id])
  await Promise.all([send(), send()])
  expect([asked.length, (await row()).firstCommentStatus]).toEqual([1, 'SENT'])
})
