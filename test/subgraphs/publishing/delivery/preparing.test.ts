import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { armCrash } from '../../../../platform/crash.ts'
import { claimMs, processingForMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import type { Network } from '../../../../subgraphs/publishing/network/network.ts'
import type { Delivery, Preparation, Publication } from '../../../../subgraphs/publishing/network/publication.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import type { PostRow } from '../../../../subgraphs/publishing/stores/post.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { cancelPost, deletePost, post as postDocument, reschedulePost, updatePost } from '../documents.ts'
import { seedAsset } from '../media/seed.ts'
import { interrupt, renewals, round, stored, storedConnection, wake } from './delivering.ts'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const ready = (uploadId: string): Preparation => ({ outcome: 'ready', handle: { uploadId } })
const processing = (uploadId: string): Preparation => ({ outcome: 'processing', handle: { uploadId }, againInMs: 10_000 })
let delivered = 0

/** A due post for a network that prepares, and what the network is asked and answers. */
async function begin(seed: Partial<PostRow> = {}) {
  const now = graph.clock.now()
  const seeded = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(1_000), row: { scheduledAt: now, ...seed } })
  const asked = { prepare: [] as [Omit<Publication, 'handle'>, unknown][], publish: [] as Publication[], find: 0 }
  const answers = {
    prepare: [] as Preparation[],
    publish: (): Delivery => ({ outcome: 'delivered', platformPostId: String(++delivered), permalink: `https://x.com/demo/status/${delivered}` }),
  }
  const network = graph.job.networks.get('X')!
  const prepare: Network['prepare'] = async (publication, kept) => {
    asked.prepare.push([publication, kept])
    return answers.prepare.shift() ?? ready('1')
  }
  const publish: Network['publish'] = async publication => {
    asked.publish.push(publication)
    return answers.publish()
  }
  const find: Network['find'] = async () => {
    asked.find += 1
    return { found: false, isAnothers: false }
  }
  Object.assign(network, { prepare, publish, find, lookupOf: undefined })
  const row = () => stored(graph, seeded.post)
  const seen = async () => (await graph.execute(postDocument, { id: seeded.post.id }, { as: seeded.owner })).data().post
  return { ...seeded, network, asked, answers, row, seen, wake: () => wake(graph, seeded.post) }
}

describe('P-12 content that a network needs before the call', () => {
  test('is uploaded first, and passed to the call; the attempt stores it', async () => {
    const { asked, answers, wake, row, post } = await begin()
    answers.prepare.push(ready('7'))
    await wake()
    expect(asked.prepare).toMatchObject([[{ copy: post.copy, media: [] }, null]])
    expect(asked.publish).toMatchObject([{ copy: post.copy, handle: { uploadId: '7' } }])
    expect(await row()).toMatchObject({ status: 'PUBLISHED', prepared: null, prepareAt: null })
    expect((await graph.job.attempts.lastAttempt(post))!.handle).toEqual({ uploadId: '7' })
  })

  test('and that it processes is asked about again with the stored state; the post stays editable and does not count as waiting', async () => {
    const { asked, answers, wake, row, seen } = await begin()
    answers.prepare.push(processing('7'), ready('8'))
    await wake()
    expect(await row()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', claimId: null, attempts: 0, prepareAt: graph.clock.in(10_000) })
    expect((await seen()).waitsUntil).toBe(null)
    await wake()
    expect(asked.prepare).toHaveLength(1)
    await graph.clock.advance(10_000)
    await wake()
    expect(asked.prepare[1]![1]).toEqual({ uploadId: '7' })
    expect([asked.publish.map(({ handle }) => handle), (await row()).status]).toEqual([[{ uploadId: '8' }], 'PUBLISHED'])
  })

  test.each([
    ['text', { copy: 'Edited meanwhile' }, false],
    ['title', { title: 'Edited meanwhile' }, false],
    ['link', { link: 'https://example.com/edited' }, false],
    ['media', {}, true],
  ])('is left anew once its %s is another', async (_what, words, isOfMedia) => {
    const { asked, answers, wake, post, owner, brand } = await begin()
    answers.prepare.push(processing('7'))
    await wake()
    const media = isOfMedia ? [{ assetId: (await seedAsset(graph, { brandId: brand.id, kind: 'GIF', mimeType: 'image/gif' })).id }] : []
    ;(await graph.execute(updatePost, { input: { id: post.id, ...words, ...(isOfMedia && { media }) } }, { as: owner })).data()
    await graph.clock.advance(10_000)
    await wake()
    expect(asked.prepare[1]).toMatchObject([{ ...words, media }, null])
    expect(asked.publish).toMatchObject([words])
  })

  test('and that it processes for half an hour is given up: MEDIA_FAILED, and nothing was sent', async () => {
    const { answers, asked, wake, row } = await begin()
    answers.prepare.push(processing('7'), processing('7'), processing('7'))
    await wake()
    await graph.clock.advance(processingForMs - 1)
    await wake()
    expect((await row()).status).toBe('SCHEDULED')
    await graph.clock.advance(10_000)
    await wake()
    expect(await row()).toMatchObject({ status: 'FAILED', failureCode: 'MEDIA_FAILED', prepared: null, prepareAt: null, attempts: 1 })
    expect(asked.publish).toEqual([])
  })

  test('and that it refuses fails the post with its reason', async () => {
    const { answers, wake, row } = await begin()
    answers.prepare.push({ outcome: 'refused', code: 'MEDIA_FAILED', detail: 'not a film' })
    await wake()
    expect(await row()).toMatchObject({ status: 'FAILED', failureCode: 'MEDIA_FAILED', failureMessage: expect.stringContaining('not a film') })
  })

  test('and that did not reach it is tried again after 5 and 10 seconds', async () => {
    const { answers, wake, row, asked } = await begin()
    answers.prepare.push({ outcome: 'unsent', detail: 'refused' }, { outcome: 'unsent', detail: 'refused' })
    for (const pause of [5_000, 10_000]) {
      await wake()
      expect(await row()).toMatchObject({ status: 'SCHEDULED', waitsUntil: graph.clock.in(pause), attempts: 0 })
      await graph.clock.advance(pause)
    }
    await wake()
    expect([asked.prepare.length, (await row()).status]).toEqual([3, 'PUBLISHED'])
  })

  test('and that it could not fetch from us is fetched three times more before that is believed', async () => {
    const { answers, wake, row, asked } = await begin()
    const unfetched: Preparation = { outcome: 'refused', code: 'MEDIA_FAILED', detail: 'could not be fetched', mayPass: true }
    answers.prepare.push(unfetched, unfetched, unfetched, unfetched)
    for (const pause of [5_000, 10_000, 20_000]) {
      await wake()
      expect(await row()).toMatchObject({ status: 'SCHEDULED', waitsUntil: graph.clock.in(pause), attempts: 0 })
      await graph.clock.advance(pause)
    }
    await wake()
    expect([await row(), asked.prepare.length, asked.publish]).toMatchObject([{ status: 'FAILED', failureCode: 'MEDIA_FAILED' }, 4, []])
  })

  test('and for which its answer is unreadable is tried again, and given up after an hour', async () => {
    const { answers, network, wake, row, asked } = await begin()
    Object.assign(network, { prepare: async () => (null as unknown as Preparation).outcome })
    await wake()
    expect(await row()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', claimId: null, waitsUntil: graph.clock.in(5_000), attempts: 0 })
    await graph.clock.advance(3_600_000)
    await wake()
    expect([await row(), asked.publish, answers.prepare]).toMatchObject([{ status: 'FAILED', failureCode: 'NETWORK_UNAVAILABLE' }, [], []])
  })

  test('with a token that it refuses has that renewed once', async () => {
    const { answers, asked, wake, row } = await begin()
    const before = renewals(graph)
    answers.prepare.push({ outcome: 'refused', code: 'ACCESS_EXPIRED', detail: 'expired' }, ready('7'))
    await wake()
    const tokens = asked.prepare.map(([{ accessToken }]) => accessToken)
    expect([renewals(graph) - before, tokens[0] === tokens[1], asked.publish[0]!.accessToken === tokens[1]]).toEqual([1, false, true])
    expect((await row()).status).toBe('PUBLISHED')
  })
})

test('P-10 a crash after preparing sent nothing: it is prepared again, and published once', async () => {
  const { asked, wake, row } = await begin()
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new Error('power failure')
  })
  armCrash('after-prepare')
  await expect(wake()).rejects.toThrow('power failure')
  armCrash(null)
  kill.mockRestore()
  expect([await row(), asked.publish]).toMatchObject([{ status: 'SCHEDULED', deliveryPhase: 'CLAIMED', attempts: 0 }, []])
  await graph.clock.advance(claimMs)
  await round(graph)
  expect([asked.prepare.length, asked.publish.length, (await row()).status]).toEqual([2, 1, 'PUBLISHED'])
})

describe('P-10 people’s actions while a post is prepared', () => {
  test.each([
    ['an edit', async (post: PostRow) => ({ mutation: updatePost, input: { id: post.id, copy: `Edited ${post.id}` } }), 'SCHEDULED'],
    ['a new time', async (post: PostRow) => ({ mutation: reschedulePost, input: { id: post.id, scheduledAt: graph.clock.soon(7_200_000) } }), 'SCHEDULED'],
    ['a revert', async (post: PostRow) => ({ mutation: updatePost, input: { id: post.id, scheduledAt: null } }), 'DRAFT'],
    ['cancelling', async (post: PostRow) => ({ mutation: cancelPost, input: { id: post.id } }), 'DRAFT'],
    ['deleting', async (post: PostRow) => ({ mutation: deletePost, input: { id: post.id } }), null],
  ] as const)('%s wins: nothing is sent by either of two workers', async (_what, what, status) => {
    const { asked, network, post, owner, wake } = await begin()
    const { mutation, input } = await what(post)
    const prepare = network.prepare!.bind(network)
    let acted = false
    Object.assign(network, {
      prepare: async (...parameters: Parameters<typeof prepare>) => {
        if (!acted) {
          acted = true
          ;(await graph.execute(mutation, { input }, { as: owner })).data()
        }
        return prepare(...parameters)
      },
    })
    const before = asked.publish.length
    await Promise.all([wake(), wake()])
    const present = await graph.rows<{ status: string }>('select status from publishing.posts where id = $1', [post.id])
    if (status === null) expect(present).toEqual([])
    // An edited post is due still: who comes next sends what stands there now.
    else if (mutation === updatePost && 'copy' in input) expect(asked.publish.slice(before).every(({ copy }) => copy === input.copy)).toBe(true)
    else expect(present).toEqual([{ status }])
    if (!('copy' in input)) expect(asked.publish.slice(before)).toEqual([])
  })
})

describe('P-12 a network’s limit', () => {
  const answering = (remaining: number, resetsAt: Date): Delivery => ({
    outcome: 'delivered',
    platformPostId: String(++delivered),
    permalink: 'https://x.com/demo/status/1',
    limit: { limit: 50, remaining, resetsAt },
  })

  test('that is reached has the next due post wait until it is open again', async () => {
    const { answers, asked, wake: first, connection, row, seen } = await begin()
    const until = graph.clock.in(600_000)
    await graph.job.connections.keepLimit(connection, { limit: 50, remaining: 0, resetsAt: until }, graph.clock.now())
    await first()
    expect(await row()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', waitsUntil: until, attempts: 0 })
    expect(await seen()).toMatchObject({ waitsUntil: until.toISOString() })
    await graph.clock.advance(599_999)
    await first()
    expect(asked.publish).toEqual([])
    await graph.clock.advance(1)
    const later = graph.clock.in(900_000)
    answers.publish = () => answering(49, later)
    await first()
    expect((await row()).status).toBe('PUBLISHED')
    expect((await storedConnection(graph, connection)).rateLimit).toMatchObject({ limit: 50, remaining: 49, resetsAt: later.toISOString() })
    // An answer that was overtaken tells nothing new.
    await graph.job.connections.keepLimit(connection, { limit: 50, remaining: 50, resetsAt: later }, graph.clock.in(-1))
    expect((await storedConnection(graph, connection)).rateLimit).toMatchObject({ remaining: 49 })
    // A newer answer counts although its window opens earlier.
    const nearer = graph.clock.in(9_000)
    await graph.job.connections.keepLimit(connection, { limit: 50, remaining: 0, resetsAt: nearer }, graph.clock.now())
    expect((await storedConnection(graph, connection)).rateLimit).toMatchObject({ remaining: 0, resetsAt: nearer.toISOString() })
  })

  test('on begun posts of an account postpones the post that meets it, and the next one without a call', async () => {
    const { answers, asked, wake, row, connection } = await begin()
    const until = graph.clock.in(60_000)
    answers.prepare.push({ outcome: 'limited', limit: 6, forMs: 60_000 })
    await wake()
    expect(await row()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', waitsUntil: until, attempts: 0 })
    expect((await storedConnection(graph, connection)).rateLimit).toMatchObject({ limit: 6, remaining: 0, resetsAt: until.toISOString() })
    await graph.clock.advance(59_999)
    await wake()
    expect([asked.prepare.length, asked.publish]).toEqual([1, []])
    await graph.clock.advance(1)
    await wake()
    expect([asked.prepare.length, (await row()).status]).toEqual([2, 'PUBLISHED'])
  })

  test('that opens in more than an hour fails the post', async () => {
    const { wake, connection, row, asked } = await begin()
    await graph.job.connections.keepLimit(connection, { limit: 50, remaining: 0, resetsAt: graph.clock.in(3_600_001) }, graph.clock.now())
    await wake()
    expect([await row(), asked.publish]).toMatchObject([{ status: 'FAILED', failureCode: 'RATE_LIMITED' }, []])
  })
})

describe('P-06 a due post is held back', () => {
  test.each(['paused_at', 'archived_at'])('a brand with %s, also when that came while it was prepared; then it is sent', async stop => {
    const { wake, brand, row, asked, network } = await begin()
    const set = (at: Date | null) => graph.rows(`update publishing.brands set ${stop} = $1 where id = $2`, [at, brand.id])
    await set(graph.clock.now())
    await wake()
    await set(null)
    const prepare = network.prepare!.bind(network)
    Object.assign(network, {
      prepare: async (...parameters: Parameters<typeof prepare>) => {
        await set(graph.clock.now())
        return prepare(...parameters)
      },
    })
    await wake()
    expect([await row(), asked.publish]).toMatchObject([{ status: 'SCHEDULED', deliveryPhase: 'NONE', attempts: 0 }, []])
    Object.assign(network, { prepare })
    await set(null)
    await graph.clock.advance(3_000)
    await round(graph)
    expect((await row()).status).toBe('PUBLISHED')
  })

  test('those who approve', async () => {
    const { wake, row, post } = await begin({ held: true })
    await wake()
    expect((await row()).status).toBe('SCHEDULED')
    await graph.rows('update publishing.posts set held = false where id = $1', [post.id])
    await wake()
    expect((await row()).status).toBe('PUBLISHED')
  })
})

describe('P-10 a network that cannot be asked', () => {
  test('leaves an unknown outcome unknown', async () => {
    const { network, answers, wake, row, asked } = await begin()
    Object.assign(network, { lookupOf: () => 'NONE' })
    answers.publish = () => ({ outcome: 'unknown', detail: 'silence' })
    await wake()
    await graph.clock.advance(120_000)
    await round(graph)
    expect([await row(), asked.find]).toMatchObject([{ status: 'FAILED', deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' }, 0])
  })

  test('nor is it called again after an interrupted call: that is an unknown outcome, too', async () => {
    const { network, row, asked, post, connection } = await begin()
    Object.assign(network, { lookupOf: () => 'NONE' })
    await interrupt({ graph, post, connection })
    await graph.clock.advance(sendMs)
    await round(graph)
    expect([await row(), asked.find, asked.publish]).toMatchObject([{ status: 'FAILED', deliveryPhase: 'UNKNOWN' }, 0, []])
  })
})
