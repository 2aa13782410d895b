import { describe, type ExpectStatic, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { type ChaosPost, openStage } from './stage.ts'

/**
 * How soon after the restarted platform answers work must have been taken up again, in seconds. Its start is not counted: here several
 * platforms start beside each other, and wait for their turn.
 */
const takenUpWithin = 30

const isSettled = ({ status }: ChaosPost) => status !== 'SCHEDULED'

/** Each point with where it leaves a post, and whether the network has been called by then. */
type Point = readonly [point: string, stands: string, isCalled: boolean]
const called: readonly Point[] = [
  ['after-call', 'SCHEDULED SENDING', true],
  ['in-conclusion', 'SCHEDULED SENDING', true],
]
const elsewhere: readonly Point[] = [
  ['after-claim', 'SCHEDULED CLAIMED', false],
  ['after-attempt-row', 'SCHEDULED SENDING', false],
  ['after-conclusion', 'PUBLISHED NONE', true],
]
const title = 'at %s loses no post, doubles none, and goes on within 30 s of the restart'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills where nothing is open at the network are left out, each takes half a minute: npm run test:chaos')

async function dies([point, stands, isCalled]: Point, { expect }: { readonly expect: ExpectStatic }): Promise<void> {
  await using stage = await openStage()
  const doomed = await stage.start({ CRASH_AT: point })
  const first = await stage.schedule(`first, ${point}`, 3_000)
  const reply = await stage.schedule(`reply, ${point}`, 3_000, first.threadId)
  const other = await stage.schedule(`other, ${point}`, 3_000)
  const texts = [first, reply, other].map(({ copy }) => copy)
  expect(await doomed.ended).toBe('SIGKILL')
  expect(await stage.stand()).toContain(stands)
  expect((await stage.published()).length > 0).toBe(isCalled)

  const platform = await stage.start()
  const restarted = performance.now()
  const posts = await until(
    `all posts are settled after a crash at ${point}`,
    async () => {
      const now = await stage.read([first.id, reply.id, other.id])
      return now.every(isSettled) && now
    },
    60,
  )
  const seconds = (performance.now() - restarted) / 1000
  console.log(`crash at ${point}: settled ${seconds.toFixed(1)} s after the restart`)
  expect(posts.map(({ status }) => status)).toEqual(['PUBLISHED', 'PUBLISHED', 'PUBLISHED'])
  const published = await stage.published()
  expect(published.map(({ text }) => text).sort()).toEqual([...texts].sort())
  expect(published.find(({ text }) => text === reply.copy)).toMatchObject({ inReplyToId: posts[0]!.platformPostId })
  // The network refuses a repeated text: a refused second call still counts as a second call.
  expect(await stage.refusedCreations()).toEqual([])
  expect(seconds).toBeLessThan(takenUpWithin)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
}

describe.concurrent('P-09 kill -9 of the platform during a delivery', () => {
  test.for(called)(title, { timeout: 120_000 }, dies)
  test.runIf(wanted).for(elsewhere)(title, { timeout: 120_000 }, dies)

  test('at in-put-back, with the network unavailable, neither loses nor duplicates a post', { timeout: 120_000 }, async ({ expect }) => {
    await using stage = await openStage()
    const doomed = await stage.start({ CRASH_AT: 'in-put-back' })
    const posts = [await stage.schedule('first, in-put-back', 2_000), await stage.schedule('second, in-put-back', 2_000)]
    const comeBack = await stage.away()
    expect(await doomed.ended).toBe('SIGKILL')
    const platform = await stage.start()
    await comeBack()
    const back = performance.now()
    const settled = await until(
      'both posts are settled after a crash at in-put-back',
      async () => {
        const now = await stage.read(posts.map(({ id }) => id))
        return now.every(isSettled) && now
      },
      60,
    )
    const seconds = (performance.now() - back) / 1000
    console.log(`crash at in-put-back: settled ${seconds.toFixed(1)} s after the network came back`)
    expect(settled.map(({ status }) => status)).toEqual(['PUBLISHED', 'PUBLISHED'])
    expect((await stage.published()).map(({ text }) => text).sort()).toEqual(posts.map(({ copy }) => copy).sort())
    expect(await stage.refusedCreations()).toEqual([])
    expect(seconds).toBeLessThan(takenUpWithin)
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
  })

  test('at before-refresh, with a renewal claimed and never made, publishes within 30 s of the restart', { timeout: 120_000 }, async ({ expect }) => {
    await using stage = await openStage()
    const doomed = await stage.start({ CRASH_AT: 'before-refresh' })
    const post = await stage.schedule('first, before-refresh', 3_000)
    await stage.sql(`update publishing.connections set token_expires_at = now(), renewed_at = null where platform = 'X'`)
    expect(await doomed.ended).toBe('SIGKILL')

    const platform = await stage.start()
    const restarted = performance.now()
    const [settled] = await until(
      'the post is settled after a crash at before-refresh',
      async () => {
        const now = await stage.read([post.id])
        return now.every(isSettled) && now
      },
      60,
    )
    const seconds = (performance.now() - restarted) / 1000
    console.log(`crash at before-refresh: settled ${seconds.toFixed(1)} s after the restart`)
    expect(settled!.status).toBe('PUBLISHED')
    expect(seconds).toBeLessThan(takenUpWithin)
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
  })

  test('at after-refresh, with the renewed tokens lost, leaves each post with an outcome: unknown, or reconnect', { timeout: 120_000 }, async ({ expect }) => {
    await using stage = await openStage()
    const doomed = await stage.start({ CRASH_AT: 'after-refresh' })
    // The follower count was read from the network too.
    await until('the account’s followers are counted', async () => {
      const [found] = await stage.sql<{ n: number }>(
        `select count(*)::int as n from publishing.follower_counts f join publishing.connections c on c.brand_id = f.brand_id and c.id = f.connection_id where c.platform = 'X'`,
      )
      return found!.n > 0
    })
    await stage.arm({ fault: 'expired-token', times: 1 })
    const first = await stage.schedule('first, after-refresh', 3_000)
    expect(await doomed.ended).toBe('SIGKILL')

    const platform = await stage.start()
    const restarted = performance.now()
    const next = await stage.schedule('next, after-refresh', 3_000)
    const posts = await until(
      'both posts are settled after a crash at after-refresh',
      async () => {
        const now = await stage.read([first.id, next.id])
        return now.every(isSettled) && now
      },
      60,
    )
    const seconds = (performance.now() - restarted) / 1000
    console.log(`crash at after-refresh: settled ${seconds.toFixed(1)} s after the restart`)
    expect(posts.map(({ status, deliveryPhase, failure }) => [status, deliveryPhase, failure?.code])).toEqual([
      ['FAILED', 'UNKNOWN', 'OUTCOME_UNKNOWN'],
      ['FAILED', 'NONE', 'CONNECTION_EXPIRED'],
    ])
    expect(await stage.published()).toEqual([])
    expect(seconds).toBeLessThan(takenUpWithin)
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
  })
})
