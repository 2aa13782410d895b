import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Launched, until } from '../kit/launch.ts'
import { bringPictures, chooseEverywhere, compare, held, mark, names, networks, plan, received, stood, toCsv } from './everywhere.ts'
import { openStage } from './stage.ts'

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

/** For how long processes are killed at most, in ms: on a machine that others use too a start takes many seconds, and fewer are killed. */
const mostKillingMs = isLong ? 210_000 : 30_000

/** What goes wrong at the networks, one after the other at one that is drawn; X alone tells when its limit is open again. */
const faults: readonly Record<string, unknown>[] = [
  { fault: 'status', status: 500 },
  { fault: 'status-after-accept', status: 503, times: 2 },
  { fault: 'status', status: 429 },
  { fault: 'timeout-after-accept' },
  { fault: 'accept-then-reset', times: 2 },
  { fault: 'slow', delayMs: 1_500, times: 4 },
  { fault: 'listing-lag', delayMs: 3_000, times: 20 },
  { fault: 'media-status', status: 503 },
  { fault: 'malformed' },
]

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test(`P-09 P-10 ${size.posts} posts of every kind on four networks, ${size.kills} kills -9 and what networks do besides: each is there once, or unknown and listed`, {
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
  for (const { platform: network, copy, at, target, mediaId, comment } of commented) {
    const media = mediaId ? { media: [{ assetId: mediaId }] } : {}
    const input = {
      brandId: stage.brandId(),
      platform: network,
      copy,
      scheduledAt: at.toISOString(),
      firstComment: comment,
      ...(target && { target }),
      ...media,
    }
    await stage.query('mutation($input: CreatePostInput!) { createPost(input: $input) { id } }', { input })
  }
  expect(await stood(stage)).toHaveLength(wanted.length)
  const written = performance.now()

  let goesWrong = true
  const wrongs = (async () => {
    const since = new Map<string, number>()
    while (goesWrong) {
      // What is armed is left until some call meets it, but for what none may meet.
      const armed = new Set(((await stage.control('faults')) as { network: string }[]).map(({ network }) => network))
      for (const name of names) {
        const { twin } = networks[name]
        if (armed.has(twin) ? Date.now() - since.get(twin)! < 5_000 : random() < 0.3) continue
        const fault = faults[Math.floor(random() * faults.length)]!
        const reset = name === 'X' && fault.status === 429 ? { resetSeconds: 3 } : {}
        await stage.control('faults', { network: twin, ...fault, ...reset })
        since.set(twin, Date.now())
      }
      await wait(600)
    }
    for (const name of names) await stage.control('faults', { network: networks[name].twin, fault: 'none' })
  })()

  await wait(Math.max(0, from - Date.now()))
  const deaths = [...Array.from({ length: size.kills }, () => null), ...size.points]
    .map((point, at) => ({ point, place: at === 0 ? 0 : random() * (point === null ? 1 : 0.7) }))
    .sort((one, other) => one.place - other.place)
  const diedAt = new Set<string>()
  const die = async (doomed: Launched, point: string | null) => {
    // A quarter of them before they are ready.
    if (point === null && random() < 0.25) await wait(200 + random() * 1_500)
    else {
      await doomed.printed(/^ready in/m).catch(() => {})
      const isOver = await Promise.race([doomed.ended, wait(point === null ? random() * 2_500 : 8_000, null)])
      if (isOver && point) diedAt.add(point)
    }
    doomed.child.kill('SIGKILL')
    expect(await doomed.ended).toBe('SIGKILL')
  }
  const enough = performance.now() + mostKillingMs
  let kills = 0
  for (const { point } of deaths) {
    if (performance.now() > enough) break
    if (kills > 0) platform = stage.begin(point === null ? {} : { CRASH_AT: point })
    await die(platform, kills > 0 ? point : null)
    kills += 1
  }
  goesWrong = false
  await wrongs
  const [{ now: restarted }] = (await stage.sql<{ now: string }>('select now()::text as now')) as [{ now: string }]
  platform = await stage.start()
  const killed = performance.now()

  const open = async () => {
    const posts = await stood(stage)
    const waits = held(posts)
    return posts.filter(
      post =>
        (post.status === 'SCHEDULED' && !waits.has(post)) ||
        (post.delivery_phase === 'UNKNOWN' && !isNeverAsked(post)) ||
        (post.status === 'PUBLISHED' && post.first_comment_status === 'PENDING'),
    )
  }
  /** Outcomes that a person ends: nobody can be asked, or the network does not tell the id of a reply. */
  const [groups] = await Promise.all([stage.sql<{ id: string }>(`select id from publishing.posts where target ->> 'kind' = 'GROUP'`)])
  const inGroups = new Set(groups.map(({ id }) => id))
  const isNeverAsked = ({ id, platform: name, position }: { id: string; platform: keyof typeof networks; position: number }) =>
    networks[name].lookup === 'NONE' || inGroups.has(id) || (name === 'THREADS' && position > 1)
  // Two minutes pass for calls of processes that are dead, and for what the networks are asked about, so that nobody waits for them here.
  const calls = `from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number and a.started_at > now() - interval '120 seconds'`
  const pass = async () => {
    await stage.sql(`update publishing.attempts a set started_at = a.started_at - interval '125 seconds', reconcile_at = case when a.reconcile_at is null then null else now() end
      ${calls} and (a.outcome = 'UNKNOWN' or (a.outcome is null and a.started_at < '${restarted}')) and p.delivery_phase in ('SENDING', 'UNKNOWN')`)
    await stage.sql(`update publishing.posts p set claim_until = now() from publishing.attempts a where a.brand_id = p.brand_id and a.post_id = p.id
      and a.number = p.attempts and p.delivery_phase = 'SENDING' and a.outcome is null and a.started_at < '${restarted}' and p.claim_until > now()`)
  }
  await wait(Math.max(0, from + size.dueMs - Date.now()))
  await until(
    'every post is settled',
    async () => {
      if ((await open()).length === 0) return true
      await pass()
      await wait(500)
      return false
    },
    120,
  ).catch(async error => {
    throw new Error(`${(error as Error).message}: ${JSON.stringify((await open()).slice(0, 5))}`)
  })

  const posts = await stood(stage)
  const { wrong, table } = compare(posts, await received(stage))
  const published = new Set(posts.filter(({ status }) => status === 'PUBLISHED').map(({ id }) => id))
  const told = await until(
    'every published post was told of',
    async () => {
      const came = (await stage.control('received?network=hooks')) as { headers: Record<string, string>; body: string }[]
      const ids = Map.groupBy(came, ({ body }) => (JSON.parse(body) as { data: { postId: string } }).data.postId)
      return [...published].every(id => ids.has(id)) && ids
    },
    60,
  )
  for (const [id, came] of told) if (new Set(came.map(({ headers }) => headers['webhook-id'])).size > 1) wrong.push(`${id} was told of as two events`)
  for (const id of told.keys()) if (!published.has(id)) wrong.push(`${id} was told of as published`)
  // What nobody knows is in the list of what people have to look at, and nothing else is.
  const document = `query($brandId: ID!) { posts(brandId: $brandId, deliveryPhase: UNKNOWN, first: 100) { nodes { id copy } totalCount } }`
  const { posts: listed } = await stage.query<{ posts: { nodes: { copy: string }[]; totalCount: number } }>(document, { brandId: stage.brandId() })
  expect(listed.totalCount).toBe(posts.filter(({ delivery_phase }) => delivery_phase === 'UNKNOWN').length)
  expect(listed.nodes.every(({ copy }) => copy.startsWith(mark))).toBe(true)
  /** What of it came to pass: a fault is spent by a call, and calls are made while a process lives. */
  const spent = await Promise.all(
    names.map(async name => {
      const calls = (await stage.control(`requests?network=${networks[name].twin}`)) as { fault: string | null; status: number | null }[]
      const kinds = Map.groupBy(calls, ({ fault, status }) => fault && (fault.startsWith('status') ? `${fault} ${status}` : fault))
      kinds.delete(null)
      return `${name} ${[...kinds].map(([kind, those]) => `${those.length} × ${kind}`).join(', ') || 'nothing'}`
    }),
  )
  const seconds = (since: number, to = performance.now()) => Math.round((to - since) / 1000)
  console.log(
    [
      ...table,
      `${kills} of ${deaths.length} kills -9, ${size.points.length} of them at a named point (met: ${[...diedAt].join(', ')}); went wrong: ${spent.join('; ')}`,
      `${seconds(began, written)} s to write, ${seconds(written, killed)} s of kills, ${seconds(killed)} s until all was settled; seed ${seed}`,
    ].join('\n'),
  )
  expect(wrong).toEqual([])
  // Whether something passes a point in the eight seconds that its process has is chance; crash-points.test.ts meets each by itself.
  if (kills === deaths.length) expect(diedAt.size, `points that were met: ${[...diedAt]}`).toBeGreaterThanOrEqual((size.points.length * 2) / 3)
  platform.child.kill('SIGTERM')
  expect(await platform.ended).toBe(0)
})
