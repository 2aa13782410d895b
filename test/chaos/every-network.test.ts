import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bringPictures, chooseEverywhere, compare, mark, names, plan, received, stood, toCsv } from './everywhere.ts'
import { openStage } from './stage.ts'
import { type Fault, goWrong, killAgainAndAgain, listingLag, randomNumbers, settled, spent, usualFaults, wronglyListed, wronglyTold } from './storm.ts'

const isLong = Boolean(process.env.CHAOS)
const seed = Number(process.env.RANDOM_SEED ?? Math.floor(Math.random() * 2 ** 32))

/** Where processes die by themselves beside the random kills; where tokens are renewed and posts put back is tried in crash-points.test.ts. */
const points = [
  'after-claim',
  'container-made',
  'after-prepare',
  'after-attempt-row',
  'after-call',
  'in-conclusion',
  'after-conclusion',
  'after-comment-row',
  'after-comment',
  'webhook-claimed',
  'webhook-answered',
  'webhook-settled',
] as const
const size = isLong
  ? { posts: 500, kills: 30, dueMs: 100_000, aheadMs: 20_000, points }
  : { posts: 60, kills: 2, dueMs: 5_000, aheadMs: 4_000, points: points.slice(4, 5) }

/** How far ahead a post is set that is to go out at once, in ms: it has to be written before. */
const aheadOfNowMs = 3_000

/** For how long processes are killed at most, in ms: on a machine that others use too a start takes many seconds, and fewer are killed. */
const mostKillingMs = isLong ? 210_000 : 30_000

/** What goes wrong at the networks, one after the other at one that is drawn; X alone tells when its limit is open again. */
const faults: readonly Fault[] = [...usualFaults, listingLag]

test(`P-09 P-10 after ${size.posts} posts of every kind on four networks, ${size.kills} kills -9 and network faults each post exists once, or is unknown and listed`, {
  timeout: 600_000,
}, async () => {
  console.log(`kills on every network: seed ${seed} (RANDOM_SEED repeats it)`)
  const began = performance.now()
  const random = randomNumbers(seed)
  await using stage = await openStage()
  let platform = await stage.start(isLong ? { CRASH_AT: 'in-import' } : {})
  // As long as three starts take here, and what is written meanwhile.
  const aheadMs = Math.max(size.aheadMs, isLong ? 5 * (performance.now() - began) + 10_000 : 0)
  await stage.schedule('so that the brand is known', 3_600_000_000)
  const [among, mediaIds] = await Promise.all([chooseEverywhere(stage), bringPictures(stage, 4)])
  const hooks = { brandId: stage.brandId(), url: `${stage.sandbox}/hooks/chaos`, events: ['post.published'] }
  await stage.query('mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { endpoint { id } } }', { input: hooks })

  const from = Date.now() + aheadMs
  const wanted = plan(size.posts, random, () => new Date(from + random() * size.dueMs), { among, mediaIds })
  const [commented, others] = [wanted.filter(({ comment }) => comment), wanted.filter(({ comment }) => !comment)]
  // Of three who bring the file in two die, before it is kept and after it; the third is told of what the second kept.
  const bring = () =>
    stage.query<{ importPosts: { created: number; invalid: number; rows: { problems: object[] }[] } }>(
      'mutation($input: ImportPostsInput!) { importPosts(input: $input) { created invalid rows { problems { code message } } } }',
      { input: { brandId: stage.brandId(), csv: toCsv(others), idempotencyKey: 'the file' } },
    )
  for (const next of isLong ? ['after-import', null] : []) {
    await expect(bring()).rejects.toThrow()
    expect(await platform.ended).toBe('SIGKILL')
    platform = await stage.start(next ? { CRASH_AT: next } : {})
  }
  const { importPosts } = await bring()
  expect([importPosts.created, importPosts.invalid], JSON.stringify(importPosts.rows.filter(({ problems }) => problems.length > 0).slice(0, 3))).toEqual([
    others.length,
    0,
  ])
  const write = ({ platform: network, copy, at, target, mediaIds, comment }: (typeof wanted)[number]) => {
    const media = mediaIds && { media: mediaIds.map(assetId => ({ assetId })) }
    const input = {
      ...{ brandId: stage.brandId(), platform: network, copy, scheduledAt: at.toISOString(), firstComment: comment },
      ...(target && { target }),
      ...media,
    }
    return stage.query('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { input })
  }
  for (const each of commented) await write(each)
  expect(await stood(stage)).toHaveLength(wanted.length)
  const written = performance.now()

  const slowPolling = goWrong(stage, random, names, name =>
    name === 'X' ? faults.map(fault => (fault.status === 429 ? { ...fault, resetSeconds: 3 } : fault)) : faults,
  )
  await wait(Math.max(0, from - Date.now()))
  const { died, diedAt } = await killAgainAndAgain(stage, random, {
    ...{ platform, kills: size.kills, points: size.points, mostMs: mostKillingMs },
    // A post that passes every point: it wants a container, and has a comment and somebody who is told.
    provoke: (point, time) => {
      const copy = `${mark} threads for ${point} ${time}`
      return write({ platform: 'THREADS', copy, at: new Date(Date.now() + aheadOfNowMs), mediaIds: mediaIds.slice(0, 1), comment: `comment of ${copy}` })
    },
  })
  await slowPolling()
  const [{ now: restarted }] = (await stage.sql<{ now: string }>('select now()::text as now')) as [{ now: string }]
  platform = await stage.start()
  const killed = performance.now()

  await wait(Math.max(0, from + size.dueMs - Date.now()))
  await settled(stage, restarted)
  const posts = await stood(stage)
  const { wrong, table } = compare(posts, await received(stage))
  wrong.push(...(await wronglyTold(stage, posts)), ...(await wronglyListed(stage, posts, [stage.brandId()])))
  const seconds = (since: number, to = performance.now()) => Math.round((to - since) / 1000)
  console.log(
    [
      ...table,
      `${died} kills -9, ${size.points.length} of them at a named point (met: ${[...diedAt].join(', ')}); went wrong: ${(await spent(stage, names)).join('; ')}`,
      `${seconds(began, written)} s to write, ${seconds(written, killed)} s of kills, ${seconds(killed)} s until all was settled; seed ${seed}`,
    ].join('\n'),
  )
  expect(wrong).toEqual([])
  expect([...diedAt].sort()).toEqual([...size.points].sort())
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
