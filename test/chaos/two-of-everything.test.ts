import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { runningDatabase } from '../../db/embedded.ts'
import { listedSlugs } from '../../router/start/registry.ts'
import { factKinds } from '../../subgraphs/store/fact-kinds.ts'
import { type Machine, startMachine } from '../kit/apart.ts'
import { signIn } from '../kit/client.ts'
import { newDataFolder, until } from '../kit/launch.ts'
import { openTold } from './told.ts'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills of two of everything are left out, they take some minutes: npm run test:chaos')

const sockets = 20
const streamsEach = 10
const writesASecond = 20
const readsASecond = 10
const factsASecond = 2
const organizationsASecond = 0.5
const unconnectedASecond = 0.5
/** Posts that are due while processes die: the network takes a hundred in a quarter of an hour. */
const mostScheduled = 60

const create = `mutation($input: CreatePostInput!) { createPost(input: $input) { id copy version } }`
const everything = '{ viewer { user { name } organization { name } } posts(first: 5) { nodes { copy author { name } brand { name } } } widgets { app } }'
const followed = 'subscription($brandId: ID!) { postStatusChanged(brandId: $brandId) { id version } }'

interface Failure {
  readonly at: number
  readonly what: string
}

/** A client of HTTP that follows the protocol: what failed on its way is asked again, a write under the same key. */
function createCaller(url: string, token: () => string) {
  const failures: Failure[] = []
  return {
    failures,
    /** @param done a code that says of a repeated write that it was done before @default none does */
    async ask(kind: string, query: string, variables: object, done?: string): Promise<{ data: Record<string, never>; tries: number }> {
      for (let tries = 1; ; tries++) {
        let what: string
        let afterMs = 0
        try {
          const response = await fetch(`${url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token()}` },
            body: JSON.stringify({ query, variables }),
            signal: AbortSignal.timeout(15_000),
          })
          const { data, errors } = (await response.json()) as { data: Record<string, never>; errors?: { message: string; extensions?: { code?: string } }[] }
          if (!errors || (tries > 1 && errors[0]!.extensions?.code === done)) return { data, tries }
          afterMs = 1000 * Number(response.headers.get('retry-after') ?? 0)
          what = `${response.status} ${errors[0]!.extensions?.code}: ${errors[0]!.message}`
        } catch (error) {
          what = String((error as Error & { cause?: { code?: string } }).cause?.code ?? (error as Error).message)
        }
        failures.push({ at: performance.now(), what: `${kind}: ${what}` })
        if (tries > 100) throw new Error(`${kind} fails for good: ${what}`)
        await wait(Math.max(afterMs, 100 + Math.random() * 200))
      }
    },
  }
}

/** One subscription of a client that subscribes anew whenever it ends. */
interface Subscriber {
  readonly versions: Map<string, number>
  /** When it may have missed something: until the first event of a stream shows that it has begun, when a client reads what it missed. */
  readonly gaps: { readonly from: number; to: number }[]
  listening: boolean
}

function subscribeAll(url: string, token: () => string, brandId: string) {
  let over = false
  const subscribers: Subscriber[] = []
  const ends: string[] = []
  const clients = Array.from({ length: sockets }, () =>
    createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: () => ({ authorization: `Bearer ${token()}` }),
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: () => wait(100 + Math.random() * 200),
      shouldRetry: () => !over,
      keepAlive: 5_000,
      on: { closed: () => {} },
    }),
  )
  for (const client of clients)
    for (let each = 0; each < streamsEach; each++) {
      const subscriber: Subscriber = { versions: new Map(), gaps: [{ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }], listening: false }
      subscribers.push(subscriber)
      const lost = () => {
        if (subscriber.listening) subscriber.gaps.push({ from: performance.now(), to: Number.POSITIVE_INFINITY })
        subscriber.listening = false
      }
      client.on('closed', lost)
      const begun = () => {
        if (!subscriber.listening) subscriber.gaps.at(-1)!.to = performance.now()
        subscriber.listening = true
      }
      const subscribe = () => {
        if (over) return
        const again = (cause?: unknown) => {
          ends.push(
            JSON.stringify((cause as { reason?: string; code?: number } | undefined)?.code ?? (cause as Error | undefined)?.message ?? cause ?? 'complete'),
          )
          lost()
          setTimeout(subscribe, 100 + Math.random() * 200)
        }
        client.subscribe<{ postStatusChanged: { id: string; version: number } | null }>(
          { query: followed, variables: { brandId } },
          {
            next({ data, errors }) {
              if (errors) return
              begun()
              const post = data?.postStatusChanged
              if (post) subscriber.versions.set(post.id, Math.max(post.version, subscriber.versions.get(post.id) ?? 0))
            },
            error: again,
            complete: () => again(),
          },
        )
      }
      subscribe()
    }
  return {
    subscribers,
    /** How streams ended, in words. */
    ends,
    listening: () => subscribers.filter(({ listening }) => listening).length,
    async end() {
      over = true
      await Promise.all(clients.map(client => client.dispose()))
    },
  }
}

/** A process of PostgreSQL that serves a client. */
function backendOf(postmaster: number): number {
  for (const name of readdirSync('/proc').filter(each => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== postmaster) continue
      if (/127\.0\.0\.1/.test(readFileSync(`/proc/${name}/cmdline`, 'utf8'))) return Number(name)
    } catch {
      // The stream ended meanwhile.
    }
  }
  throw new Error('PostgreSQL serves nobody')
}

test.runIf(wanted)(
  'two of everything: whatever is killed, and with all of it restarted in turn, no post or fact is lost or doubled, no fact overtakes an earlier one of its subject, no answer is wrong, and every subscriber knows what a reader knows',
  { timeout: 900_000 },
  async () => {
    await using folder = newDataFolder()
    const replicas = [...listedSlugs, 'router'].map(name => `${name}=2`).join()
    await using machine: Machine = await startMachine(folder, replicas, {
      POSTS_PER_DAY: '100000',
      ORGANIZATIONS_PER_DAY: '100000',
      ORGANIZATIONS_PER_PERSON: '100000',
      LOG_LEVEL: 'fatal',
      EVENT_CARRIER: process.env.EVENT_CARRIER ?? '',
    })
    const { url } = machine
    let token = (await signIn(url)).token
    const renewal = setInterval(
      () =>
        signIn(url)
          .then(client => {
            token = client.token
          })
          .catch(() => {}),
      120_000,
    )
    const caller = createCaller(url, () => token)
    const own = await caller.ask('setup', '{ viewer { organization { id brands { nodes { id } } } } }', {})
    const { organization } = (own.data as unknown as { viewer: { organization: { id: string; brands: { nodes: { id: string }[] } } } }).viewer
    const brandId = organization.brands.nodes[0]!.id
    const made = await caller.ask('setup', 'mutation { createBrand(input: { name: "Unconnected" }) { id } }', {})
    const unconnectedId = (made.data as unknown as { createBrand: { id: string } }).createBrand.id
    await using told = openTold(runningDatabase(folder.path)!, organization.id)
    const live = subscribeAll(url, () => token, brandId)

    const written = new Map<string, { readonly id: string; readonly from: number; readonly to: number }>()
    const scheduled: string[] = []
    const wrong: string[] = []
    let [going, count, reads, repeated] = [true, 0, 0, 0]
    const write = async () => {
      const at = count++
      const isDue = at % 60 === 7 && scheduled.length < mostScheduled
      const copy = `chaos ${at}${isDue ? ', due' : ''}`
      if (isDue) scheduled.push(copy)
      const input = { brandId, platform: 'X', copy, idempotencyKey: `chaos-${at}`, ...(isDue && { scheduledAt: new Date(Date.now() + 60_000).toISOString() }) }
      const from = performance.now()
      const { data, tries } = await caller.ask('write', create, { input })
      const post = (data as unknown as { createPost: { id: string; copy: string } }).createPost
      if (tries > 1) repeated++
      if (post.copy !== copy || written.has(copy)) wrong.push(`${copy} became ${post.copy}`)
      written.set(copy, { id: post.id, from, to: performance.now() })
    }
    let first: string | undefined
    const read = async () => {
      reads++
      const { data } = await caller.ask('read', everything, {})
      const { viewer, widgets } = data as unknown as { viewer: unknown; widgets: unknown }
      const text = JSON.stringify([viewer, widgets])
      first ??= text
      if (text !== first) wrong.push(`a read answered ${text}`)
    }
    // What the platform itself tells: an organization to everybody, a post that nobody can send to launcher and agents.
    const organizations: string[] = []
    const organize = async () => {
      const slug = `chaos-${organizations.length}`
      organizations.push(slug)
      await caller.ask('organization', 'mutation($slug: String!) { createOrganization(input: { slug: $slug, name: $slug }) { id } }', { slug }, 'CONFLICT')
    }
    const unconnected: string[] = []
    const fail = async () => {
      const copy = `nowhere ${unconnected.length}`
      unconnected.push(copy)
      const scheduledAt = new Date(Date.now() + 60_000).toISOString()
      await caller.ask('failing', create, { input: { brandId: unconnectedId, platform: 'X', copy, scheduledAt, idempotencyKey: `failing-${copy}` } })
    }
    const works: Promise<void>[] = []
    const every = (times: number, work: () => Promise<void>) =>
      setInterval(() => {
        if (going) works.push(work())
      }, 1000 / times)
    const loads = [
      every(writesASecond, write),
      every(readsASecond, read),
      every(factsASecond, told.write),
      every(organizationsASecond, organize),
      every(unconnectedASecond, fail),
    ]

    await until('everybody listens', () => live.listening() === sockets * streamsEach, 60)
    const report: string[] = []
    /** Does something to the platform and tells for how long clients noticed. */
    const disturb = async (name: string, act: () => Promise<unknown>) => {
      const before = caller.failures.length
      const began = performance.now()
      await act()
      const backAfter = (performance.now() - began) / 1000
      await until(`everybody listens after ${name}`, () => live.listening() === sockets * streamsEach, 120).catch(error => {
        throw new Error(
          `${error.message}: ${live.listening()} do; streams ended last by ${live.ends.slice(-5).join('; ')}; ${caller.failures
            .slice(-3)
            .map(({ what }) => what)
            .join('; ')}\n${report.join('\n')}\n${machine.keeper.said().slice(-600)}`,
        )
      })
      await wait(3_000)
      const failures = caller.failures.slice(before)
      const last = Math.max(0, ...failures.map(({ at }) => at - began)) / 1000
      const gaps = live.subscribers.flatMap(each => each.gaps).filter(({ from }) => from > began)
      const silent = gaps.length ? Math.max(...gaps.map(({ from, to }) => to - from)) / 1000 : 0
      const kinds = [...new Set(failures.map(({ what }) => what))].slice(0, 3).join('; ')
      report.push(`| ${name} | ${failures.length} | ${last.toFixed(1)} | ${gaps.length} | ${silent.toFixed(1)} | ${backAfter.toFixed(1)} | ${kinds} |`)
    }
    await wait(3_000)
    const names = [...machine.processes().keys()]
    for (const name of ['router 1', ...listedSlugs.map(slug => `${slug} 1`), ...(names.includes('nats') ? ['nats'] : [])])
      await disturb(`kill -9 of ${name}`, () => machine.replace(name))
    await disturb('kill -9 of a PostgreSQL backend', async () => {
      process.kill(backendOf(folder.postgres()!.pid), 'SIGKILL')
      await until('the platform answers again', async () => (await fetch(`${url}/health/ready`).catch(() => null))?.status === 200, 40)
    })
    const rolling = names.filter(name => / \d+$/.test(name))
    for (const name of rolling) await disturb(`TERM of ${name}, restarted in turn`, () => machine.replace(name, 'SIGTERM'))

    // Afterwards, without disturbances, everybody receives everything.
    await wait(10_000)
    going = false
    for (const load of loads) clearInterval(load)
    await Promise.all(works)
    clearInterval(renewal)

    // Everything that was acknowledged exists, once.
    const kept = new Map<string, { id: string; version: number }>()
    for (let after: string | null = null; ; ) {
      const query = 'query($after: String) { posts(first: 100, after: $after) { nodes { id copy version status } pageInfo { hasNextPage endCursor } } }'
      const { data } = await caller.ask('check', query, { after })
      const { nodes, pageInfo } = (
        data as unknown as { posts: { nodes: { id: string; copy: string; version: number }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } }
      ).posts
      for (const { id, copy, version } of nodes) {
        if (!copy.startsWith('chaos ')) continue
        if (kept.has(copy)) wrong.push(`${copy} is there twice`)
        kept.set(copy, { id, version })
      }
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
    expect(wrong).toEqual([])
    expect([kept.size, written.size]).toEqual([count, count])
    const { sandbox } = JSON.parse(readFileSync(`${folder.path}/demo.json`, 'utf8')) as { sandbox: string }
    const texts = await until(
      'what was due is published',
      async () => {
        const received = (await (await fetch(`${sandbox}/_control/received?network=x`)).json()) as { text: string }[]
        const found = received.map(({ text }) => text).filter(text => text.startsWith('chaos '))
        return found.length >= scheduled.length && found
      },
      90,
    )
    expect(texts.sort()).toEqual([...scheduled].sort())

    // And every fact: of what was made, of what was published, and of what failed.
    const failed = () => told.sql<{ id: string }>(`select id from publishing.posts where copy = any($1) and status = 'FAILED'`, [unconnected])
    await until('what cannot be sent has failed', async () => (await failed()).length === unconnected.length, 90)
    expect(await told.wrong()).toEqual([])
    const ids = await told.sql<{ id: string }>('select id from identity.organizations where slug = any($1)', [organizations])
    expect(ids).toHaveLength(organizations.length)
    for (const { id } of ids) expect(await told.count('organization.created', `organization:${id}`)).toBe(factKinds['organization.created'].to.length)
    for (const copy of scheduled) expect(await told.count('post.published', `post:${kept.get(copy)!.id}`), copy).toBe(1)
    for (const { id } of await failed())
      expect([await told.count('post.failed', `post:${id}`), await told.count('attention.opened', `attention:post:${id}`)]).toEqual([1, 1])

    // A client that resubscribed has read the state of that moment; later changes arrived as events.
    const missing = () =>
      live.subscribers.flatMap(({ versions, gaps }, index) =>
        [...written]
          .filter(([copy, { id, from }]) => !versions.has(id) && !scheduled.includes(copy) && !gaps.some(gap => from < gap.to))
          .map(
            ([copy, { from, to }]) =>
              `${index} lacks ${copy}, written ${from.toFixed(0)}-${to.toFixed(0)}, gaps ${gaps.map(gap => `${gap.from.toFixed(0)}-${gap.to.toFixed(0)}`)}`,
          ),
      )
    const atOnce = missing().length
    console.log(
      [
        `${count} writes (${repeated} asked again), ${reads} reads, ${sockets * streamsEach} subscribers, ${scheduled.length} posts published, ${unconnected.length} failed, ${await told.total()} facts; ${atOnce} events were still on their way at the end`,
        '| what | failed attempts | last failure after s | streams that began anew | silent for s at most | the process was back after s | how |',
        '|---|---|---|---|---|---|---|',
        ...report,
      ].join('\n'),
    )
    await until('every subscriber knows every post', () => missing().length === 0, 80).catch(() => {})
    expect(missing()).toEqual([])
    await live.end()
  },
)
