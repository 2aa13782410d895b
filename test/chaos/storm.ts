import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Launched, readyLine, until } from '../kit/launch.ts'
import { held, mark, type Name, networks, type Stood, stood } from './everywhere.ts'
import type { Stage } from './stage.ts'

// What befalls a platform while its posts go out, networks that fail and processes that die, and how all of it comes to rest.

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type Fault = Readonly<Record<string, unknown>>

/** What goes wrong at any network. */
export const usualFaults: readonly Fault[] = [
  { fault: 'status', status: 500 },
  { fault: 'status-after-accept', status: 503, times: 2 },
  { fault: 'status', status: 429 },
  { fault: 'timeout-after-accept' },
  { fault: 'accept-then-reset', times: 2 },
  { fault: 'slow', delayMs: 1_500, times: 4 },
  { fault: 'media-status', status: 503 },
  { fault: 'malformed' },
]
/** A network that lists posts late. */
export const listingLag: Fault = { fault: 'listing-lag', delayMs: 3_000, times: 20 }

/** Has networks fail in ways that are drawn, one way after the other at each. @returns what ends that */
export function goWrong(stage: Stage, random: () => number, of: readonly Name[], faultsOf: (name: Name) => readonly Fault[]): () => Promise<void> {
  let goesOn = true
  const over = (async () => {
    const since = new Map<string, number>()
    while (goesOn) {
      // What is armed is left until some call meets it, but for what none may meet.
      const armed = new Set(((await stage.control('faults')) as { network: string }[]).map(({ network }) => network))
      for (const name of of) {
        const { twin } = networks[name]
        if (armed.has(twin) ? Date.now() - since.get(twin)! < 5_000 : random() < 0.3) continue
        const faults = faultsOf(name)
        await stage.control('faults', { network: twin, ...faults[Math.floor(random() * faults.length)]! })
        since.set(twin, Date.now())
      }
      await wait(600)
    }
    for (const name of of) await stage.control('faults', { network: networks[name].twin, fault: 'none' })
  })()
  return async () => {
    goesOn = false
    await over
  }
}

/** How processes are to die. */
export interface Killing {
  /** The process that runs, which dies first. */
  readonly platform: Launched
  /** How many are killed at moments that are drawn. */
  readonly kills: number
  /** Where others end by themselves: one each. */
  readonly points: readonly string[]
  /** For how long processes are killed at moments that are drawn, at most, in ms: on a machine that others use too a start takes many seconds, and fewer are. */
  readonly mostMs: number
  /** What every start is told. */
  readonly environment?: Readonly<Record<string, string>>
  /** Has something happen that passes the named points, for a process that is to end at one: whether anything else does just then is chance. */
  provoke?(point: string, time: number): Promise<unknown>
}

/** How often something is made to happen that passes a point, and how long each time may take, in ms. */
const [mostProvoked, provokedMs] = [3, 8_000]

/** Kills processes and starts others. @returns how many died, and at which named points */
export async function killAgainAndAgain(
  stage: Stage,
  random: () => number,
  { platform, kills, points, mostMs, environment = {}, provoke }: Killing,
): Promise<{ readonly died: number; readonly diedAt: ReadonlySet<string> }> {
  const deaths = [...Array.from({ length: kills }, () => null), ...points]
    .map((point, at) => ({ point, place: at === 0 ? 0 : random() * (point === null ? 1 : 0.7) }))
    .sort((one, other) => one.place - other.place)
  const diedAt = new Set<string>()
  const enough = performance.now() + mostMs
  let died = 0
  for (const { point } of deaths) {
    if (point === null && died > 0 && performance.now() > enough) continue
    const doomed = died === 0 ? platform : stage.begin({ ...environment, ...(point !== null && { CRASH_AT: point }) })
    // A quarter of those that die anywhere, before they are ready.
    if (point === null && random() < 0.25) await wait(200 + random() * 1_500)
    else {
      await doomed.printed(readyLine).catch(() => {})
      if (point === null) await Promise.race([doomed.ended, wait(random() * 2_500)])
      else if (await endsAt(doomed, time => provoke?.(point, time))) diedAt.add(point)
    }
    doomed.child.kill('SIGKILL')
    expect(await doomed.ended).toBe('SIGKILL')
    died += 1
  }
  return { died, diedAt }
}

/** Waits until a process has ended by itself, while something is made to happen in it. @returns whether it has */
async function endsAt({ ended }: Launched, happen: (time: number) => Promise<unknown> | undefined): Promise<boolean> {
  for (let time = 1; time <= mostProvoked; time += 1) {
    // The process may end before it answers.
    await Promise.race([ended, Promise.resolve(happen(time)).catch(() => {})])
    if (await Promise.race([ended, wait(provokedMs, null)])) return true
  }
  return false
}

/**
 * Waits until every post has come to rest: published, failed, or unknown where only a person can tell. Two minutes pass for calls of
 * processes that are dead, and for what the networks are asked about, so that nobody waits for them here.
 * @param killedUntil by the clock of the database: calls begun before it are those of dead processes
 */
export async function settled(stage: Stage, killedUntil: string): Promise<void> {
  const inGroups = new Set((await stage.sql<{ id: string }>(`select id from publishing.posts where target ->> 'kind' = 'GROUP'`)).map(({ id }) => id))
  /** Outcomes that a person ends: nobody can be asked, or the network does not tell the id of a reply. */
  const isNeverAsked = ({ id, platform: name, position }: Stood) => networks[name].lookup === 'NONE' || inGroups.has(id) || (name === 'THREADS' && position > 1)
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
  const calls = `from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id and p.attempts = a.number and a.started_at > now() - interval '120 seconds'`
  const pass = async () => {
    await stage.sql(`update publishing.attempts a set started_at = a.started_at - interval '125 seconds', reconcile_at = case when a.reconcile_at is null then null else now() end
      ${calls} and (a.outcome = 'UNKNOWN' or (a.outcome is null and a.started_at < '${killedUntil}')) and p.delivery_phase in ('SENDING', 'UNKNOWN')`)
    await stage.sql(`update publishing.posts p set claim_until = now() from publishing.attempts a where a.brand_id = p.brand_id and a.post_id = p.id
      and a.number = p.attempts and p.delivery_phase = 'SENDING' and a.outcome is null and a.started_at < '${killedUntil}' and p.claim_until > now()`)
  }
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
}

/** What is wrong with what the webhook was told of: each published post as one event, and nothing else. */
export async function wronglyTold(stage: Stage, posts: readonly Stood[]): Promise<string[]> {
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
  return [...told].flatMap(([id, came]) => [
    ...(new Set(came.map(({ headers }) => headers['webhook-id'])).size > 1 ? [`${id} was told of as two events`] : []),
    ...(published.has(id) ? [] : [`${id} was told of as published`]),
  ])
}

/** What is wrong with the list of what people have to look at: what nobody knows is in it, and nothing else is. */
export async function wronglyListed(stage: Stage, posts: readonly Stood[], brandIds: readonly string[]): Promise<string[]> {
  const document = `query($brandId: ID!) { posts(brandId: $brandId, deliveryPhase: UNKNOWN, first: 100) { nodes { id copy } totalCount } }`
  const lists = await Promise.all(
    brandIds.map(brandId => stage.query<{ posts: { nodes: { id: string; copy: string }[]; totalCount: number } }>(document, { brandId })),
  )
  const listed = lists.reduce((sum, { posts }) => sum + posts.totalCount, 0)
  const unknown = posts.filter(({ delivery_phase }) => delivery_phase === 'UNKNOWN').length
  const strange = lists.flatMap(({ posts }) => posts.nodes).filter(({ copy }) => !copy.startsWith(mark))
  return [...(listed === unknown ? [] : [`${unknown} are unknown, and ${listed} listed`]), ...strange.map(({ id }) => `${id} is listed as unknown`)]
}

/** What of the faults came to pass: one is spent by a call, and calls are made while a process lives. */
export async function spent(stage: Stage, of: readonly Name[]): Promise<string[]> {
  return Promise.all(
    of.map(async name => {
      const calls = (await stage.control(`requests?network=${networks[name].twin}`)) as { fault: string | null; status: number | null }[]
      const kinds = Map.groupBy(calls, ({ fault, status }) => fault && (fault.startsWith('status') ? `${fault} ${status}` : fault))
      kinds.delete(null)
      return `${name} ${[...kinds].map(([kind, those]) => `${those.length} × ${kind}`).join(', ') || 'nothing'}`
    }),
  )
}
