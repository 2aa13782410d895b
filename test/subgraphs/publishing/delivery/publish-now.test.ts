import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { cancelPost, publishPost } from '../documents.ts'
import type { PostSeed } from '../post/seed.ts'
import { attempts, stored, wake } from './delivering.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const begin = async (seed: PostSeed = {}) => {
  const seeded = await graph.seed.owner().brand().connection().post(seed)
  const { id } = seeded.post
  const publish = (input: object = {}) => graph.execute(publishPost, { input: { id, ...input } }, { as: seeded.owner })
  const cancel = () => graph.execute(cancelPost, { input: { id } }, { as: seeded.owner })
  const received = async () => (await graph.x.published()).filter(({ text }) => text === seeded.post.copy)
  const shown = async (fields: string) => (await graph.execute(`query($id: ID!) { post(id: $id) { ${fields} } }`, { id }, { as: seeded.owner })).data().post
  return { ...seeded, publish, cancel, received, shown, row: () => stored(graph, seeded.post), wake: () => wake(graph, seeded.post) }
}

const failed = { status: 'FAILED', failureCode: 'NO_CONNECTION', failureMessage: 'None.', failedAt: new Date(0) } as const

describe('P-05 publishing a post now', () => {
  test.each([
    ['a draft', {}],
    ['one before its time', { scheduledAt: new Date('2999-01-01T00:00:00Z') }],
    ['one that failed', { row: failed }],
  ] as const)('sends %s at once, and it is published once', async (_what, seed) => {
    const { publish, row, wake, received } = await begin(seed)
    const now = graph.clock.now()
    expect((await publish()).data().publishPost).toMatchObject({ status: 'SCHEDULED', scheduledAt: now.toISOString(), failure: null, version: 2 })
    await wake()
    expect([(await row()).status, (await received()).length]).toEqual(['PUBLISHED', 1])
  })

  test('by twenty callers at once publishes it once; late callers get a conflict', async () => {
    const { publish, wake, received } = await begin()
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await publish()
        await wake()
        return answer
      }),
    )
    for (const answer of answers) if (answer.partial.errors.length) answer.refused('CONFLICT')
    expect((await received()).length).toBe(1)
  })

  test('is rejected for a published post, for an outdated version, and while its outcome is unknown', async () => {
    const { publish, wake } = await begin()
    expect((await publish({ expectedVersion: 7 })).refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION' })
    await publish()
    await wake()
    expect((await publish()).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'PUBLISHED', verb: 'publish', possible: [] })
    const unknown = await begin({ row: { ...failed, deliveryPhase: 'UNKNOWN', attempts: 1, failureCode: 'OUTCOME_UNKNOWN' } })
    expect((await unknown.publish()).refused('CONFLICT').extensions).toMatchObject({ reason: 'OUTCOME_UNKNOWN' })
  })
})

describe('P-05 cancelling a post', () => {
  test('turns it into a draft that is not sent', async () => {
    const { cancel, wake, row, received } = await begin({ scheduledAt: graph.clock.in(1_000) })
    expect((await cancel()).data().cancelPost).toMatchObject({ status: 'DRAFT', scheduledAt: null })
    await graph.clock.advance(1_000)
    await wake()
    expect([(await row()).status, await received()]).toEqual(['DRAFT', []])
    expect((await cancel()).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'DRAFT', verb: 'cancel' })
  })
})

test('P-12 lists attempts in order with the network’s answer; a failure says who can fix it', async () => {
  const { publish, wake, shown } = await begin()
  await graph.x.arm({ fault: 'status', status: 403, times: 1 })
  await publish()
  await wake()
  expect((await shown('failure { code category advice retryable }')).failure).toEqual({
    code: 'NETWORK_REFUSED',
    category: 'NETWORK',
    advice: expect.stringMatching(/\.$/),
    retryable: false,
  })
  await publish()
  await wake()
  const now = graph.clock.now().toISOString()
  expect((await shown('deliveryAttempts { number startedAt endedAt outcome code detail }')).deliveryAttempts).toEqual([
    { number: 1, startedAt: now, endedAt: now, outcome: 'REFUSED', code: 'NETWORK_REFUSED', detail: expect.stringMatching(/\w/) },
    { number: 2, startedAt: now, endedAt: now, outcome: 'DELIVERED', code: null, detail: null },
  ])
  expect((await attempts(graph)).length).toBeGreaterThan(1)
})
