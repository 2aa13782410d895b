import { parse } from 'graphql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readAccessTable } from '../../router/access/rules.ts'
import type { InTurn } from '../../router/engine/engine.ts'
import type { Membership } from '../../router/live/shared/channel.ts'
import { createHub, type Hub } from '../../router/live/shared/hub.ts'
import { createShares, eventShare, inTurnOf } from '../../router/live/shares.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { compose, type Part, type TestGraph, testGraph } from '../engine/supergraph-fixture.ts'
import { key, person, personally } from '../kit/viewers.ts'

const shared = `extend schema @link(url: "https://supergraph.example/shared/v1.0", import: ["@shared"]) @composeDirective(name: "@shared")
  directive @shared(by: SharedBy!, sameScopes: Boolean! = false, latestBy: String) on FIELD_DEFINITION | OBJECT
  enum SharedBy { ORGANIZATION EVERYONE }`

let events: Events
let graph: TestGraph
let hub: Hub
/** What of the source stands in the way of a start; what broke it. */
let world: { refuses: DomainError | null; breaks: ((cause: Error) => void)[]; ends: (() => void)[]; opened: number; plans: number }

const patience = { lostMs: 400, firstMs: 5, longestMs: 20 }

beforeEach(() => {
  events = createMemoryEvents()
  world = { refuses: null, breaks: [], ends: [], opened: 0, plans: 0 }
  const live: Part = {
    sdl: `${shared}
      type Query { x: Int }
      type Subscription {
        changed(of: ID): Thing @shared(by: ORGANIZATION)
        news: Thing @shared(by: EVERYONE)
        mine: Thing
        boards: Board @shared(by: ORGANIZATION, sameScopes: true, latestBy: "app")
      }
      type Thing @key(fields: "id") @shared(by: ORGANIZATION) { id: ID! n: String @shared(by: ORGANIZATION) }
      type Board @shared(by: ORGANIZATION) { app: String! shows: String }`,
    resolvers: {
      Subscription: Object.fromEntries(
        ['changed', 'news', 'mine', 'boards'].map(field => [
          field,
          {
            subscribe() {
              if (world.refuses) throw world.refuses
              world.opened += 1
              const source = events.listen(['thing'])
              const broken = Promise.withResolvers<never>()
              broken.promise.catch(() => {})
              world.breaks.push(cause => broken.reject(cause))
              world.ends.push(() => source.return())
              return {
                next: () => Promise.race([source.next(), broken.promise]),
                return: () => source.return(),
                [Symbol.asyncIterator]() {
                  return this
                },
              }
            },
            resolve: (event: { id: string }) => ({ id: event.id, n: event.id, app: event.id, shows: 'it' }),
          },
        ]),
      ),
    },
  }
  const names: Part = {
    sdl: `${shared}
      type Thing @key(fields: "id") { id: ID! title: String @shared(by: ORGANIZATION) secret: String }`,
    open: viewer => ({ viewer }),
    resolvers: {
      Thing: {
        __resolveReference(reference: { id: string }) {
          world.plans += 1
          if (reference.id === 'broken') throw new Error('It broke.')
          return reference
        },
        title: ({ id }: { id: string }) => `title ${id}`,
        secret: (_: unknown, __: unknown, { viewer }: { viewer: Viewer }) => viewer.userId,
      },
    },
  }
  graph = testGraph({ live, names })
  hub = createHub(graph.engine, { patience, perCaller: 1000 })
})

afterEach(() => {
  hub.close()
  expect(events.listenerCount()).toBe(0)
})

interface Client {
  readonly heard: { readonly data?: unknown; readonly errors?: unknown }[]
  readonly ended: unknown[]
  readonly membership: Membership
}

async function join(
  source: string,
  viewer: Viewer,
  more: { variables?: Record<string, unknown>; signal?: AbortSignal; caller?: string; inTurn?: InTurn } = {},
): Promise<Client> {
  const { variables, signal, inTurn, caller = viewer.userId ?? 'nobody' } = more
  const request = { document: parse(source), variables, viewer, requestId: 'request-1', signal, inTurn }
  const place = hub.reserve(caller)
  if (place instanceof DomainError) throw place
  const joined = await hub.join({ request, formatErrors: errors => errors.map(error => error.toJSON()) }, place)
  if (!('listen' in joined)) throw new Error(JSON.stringify(joined.errors))
  const client: Client = { heard: [], ended: [], membership: joined }
  joined.listen({ send: told => client.heard.push(JSON.parse(told.json)), end: errors => client.ended.push(errors) })
  return client
}

const [anna, ben, carl] = [person('anna', 'org-a', ['owner']), person('ben', 'org-a', ['member']), person('carl', 'org-b', ['owner'])]
const upstreams = () => hub.figures.upstreams()
const titled = 'subscription { changed { n title } }'

test('one source and one run of the plan serve all subscribers of an organization, however they write the operation', async () => {
  const clients = await Promise.all(
    Array.from({ length: 50 }, (_, n) => join(n % 2 ? titled : 'subscription   {\n changed { n, title } }', n % 3 ? anna : ben)),
  )
  expect([upstreams(), world.opened, events.listenerCount()]).toEqual([1, 1, 1])
  events.announce('thing', { id: '1' })
  await expect.poll(() => clients.filter(({ heard }) => heard.length === 1).length).toBe(50)
  expect(clients[0]!.heard).toEqual([{ data: { changed: { n: '1', title: 'title 1' } } }])
  expect([world.plans, hub.figures.events(), hub.figures.deliveries()]).toEqual([1, 1, 50])
  for (const { membership } of clients) membership.leave()
  expect([upstreams(), hub.figures.subscriptions().size]).toEqual([0, 0])
})

test.each([
  ['another organization', titled, anna, titled, carl],
  ['another operation', titled, anna, 'subscription { changed { n } }', anna],
  ['another name, by which it is told apart in figures', 'subscription A { changed { n } }', anna, 'subscription B { changed { n } }', anna],
  ['a field that promises nothing, of another subgraph', 'subscription { changed { secret } }', anna, 'subscription { changed { secret } }', ben],
  [
    'the same behind a fragment',
    'subscription { changed { ...F } } fragment F on Thing { n secret }',
    anna,
    'subscription { changed { ...F } } fragment F on Thing { n secret }',
    ben,
  ],
  ['a subscription that promises nothing', 'subscription { mine { n } }', anna, 'subscription { mine { n } }', ben],
  ['personal context', titled, anna, titled, { ...anna, context: 'personal' as const }],
  ['other scopes where they count', 'subscription { boards { shows } }', anna, 'subscription { boards { shows } }', ben],
])('nobody shares with %s', async (_, one, who, other, whom) => {
  await join(one, who)
  await join(other, whom)
  expect([upstreams(), world.opened]).toEqual([2, 2])
})

test('different variables need another stream, but not their order, nor an explicit default of null', async () => {
  const source = 'subscription ($of: ID, $skip: Boolean = false) { changed(of: $of) { n @skip(if: $skip) title } }'
  await join(source, anna, { variables: { of: '1', skip: false } })
  await join(source, anna, { variables: { skip: false, of: '1' } })
  await join(source, anna, { variables: { of: '1' } })
  expect(upstreams()).toBe(1)
  await join(source, anna, { variables: { of: '2' } })
  await join(source, anna, { variables: { of: '1', skip: true } })
  expect(upstreams()).toBe(3)
})

test('limits the size of variables that are kept while a subscription is open', async () => {
  const source = 'subscription ($of: ID) { changed(of: $of) { n } }'
  await join(source, anna, { variables: { of: 'x'.repeat(16_000) } })
  await expect(join(source, anna, { variables: { of: '1', unused: 'x'.repeat(17_000) } })).rejects.toThrow('at most 16384 characters')
  expect(upstreams()).toBe(1)
})

test('callers without an active organization do not share an organization’s stream', async () => {
  const alone = [anna, ben].map(personally)
  for (const viewer of [...alone, ...alone]) await join(titled, viewer)
  expect(upstreams()).toBe(2)
  for (const viewer of alone) await join('subscription { news { __typename } }', viewer)
  expect(upstreams()).toBe(3)
})

test('shares a stream between everybody until it selects a field that is for one organization only', async () => {
  for (const viewer of [anna, ben, carl]) await join('subscription { news { __typename } }', viewer)
  expect(upstreams()).toBe(1)
  for (const viewer of [anna, ben, carl]) await join('subscription { news { n } }', viewer)
  expect(upstreams()).toBe(3)
})

test('people and keys share a stream where access leaves them the same fields', async () => {
  await join(titled, anna)
  await join(titled, key('org-a', []))
  expect(upstreams()).toBe(1)
})

test('a later subscriber first gets the latest value of each item, then the same as all others', async () => {
  const source = 'subscription { boards { shows other: shows } }'
  const first = await join(source, anna)
  for (const id of ['a', 'b', 'a']) events.announce('thing', { id })
  await expect.poll(() => first.heard.length).toBe(3)
  const second = await join(source, anna)
  expect(second.heard).toEqual(Array(2).fill({ data: { boards: { shows: 'it', other: 'it' } } }))
  events.announce('thing', { id: 'c' })
  await expect.poll(() => [first.heard.length, second.heard.length]).toEqual([4, 3])
  expect([hub.figures.events(), hub.figures.deliveries()]).toEqual([4, 7])
  // A stream without state has nothing to repeat.
  const change = await join(titled, anna)
  events.announce('thing', { id: 'd' })
  await expect.poll(() => change.heard.length).toBe(1)
  expect((await join(titled, anna)).heard).toEqual([])
})

test('the subscriber that started a stream may leave: the others continue, and the last one ends it', async () => {
  const first = await join(titled, anna)
  const second = await join(titled, ben)
  first.membership.leave()
  first.membership.leave()
  events.announce('thing', { id: '1' })
  await expect.poll(() => second.heard.length).toBe(1)
  expect([first.heard, upstreams()]).toEqual([[], 1])
  second.membership.leave()
  expect([upstreams(), events.listenerCount()]).toEqual([0, 0])
})

test('a subscriber with other work delays nobody: an event uses the place of a subscriber with a free one', async () => {
  const events = createShares({ ...eventShare, each: 1 })
  const claim = (viewer: Viewer) => ({ caller: viewer.userId!, organization: viewer.userId! })
  const sharedBy = (viewer: Viewer) => join(titled, viewer, { inTurn: inTurnOf(events, claim(viewer), null) })
  const clients = [await sharedBy(anna), await sharedBy(ben)]
  const busy = Promise.withResolvers<void>()
  const work = [anna, anna].map(viewer => events.run(claim(viewer), () => busy.promise))
  await told(clients, '1')
  // If no caller has a free place it takes that of the longest-waiting one.
  work.push(events.run(claim(ben), () => busy.promise))
  const waiting = told(clients, '2')
  busy.resolve()
  await Promise.all([waiting, ...work])
  for (const { membership } of clients) membership.leave()
})

/** Tells of a thing, and waits until all of them have heard of it. */
async function told(clients: readonly Client[], id: string): Promise<void> {
  events.announce('thing', { id })
  await expect.poll(() => clients.map(({ heard }) => heard.at(-1)?.data)).toEqual(clients.map(() => ({ changed: { n: id, title: `title ${id}` } })))
}

test('a subscriber that disconnected receives nothing more, also while the stream starts', async () => {
  const [gone, leaving] = [AbortSignal.abort(), new AbortController()]
  const joining = [join(titled, anna, { signal: gone }), join(titled, anna, { signal: leaving.signal })]
  leaving.abort()
  await Promise.all(joining)
  expect([upstreams(), events.listenerCount(), hub.figures.subscriptions().size]).toEqual([0, 0, 0])
  const open = new AbortController()
  await join(titled, anna, { signal: open.signal })
  expect(upstreams()).toBe(1)
  open.abort()
  expect([upstreams(), events.listenerCount()]).toEqual([0, 0])
})

test('an event that cannot be resolved ends the stream with an error for everybody, and is logged', async () => {
  hub.close()
  const failures: unknown[] = []
  hub = createHub(graph.engine, { patience, failed: cause => failures.push(cause) })
  const mistake = new Error('An error that cannot be told.')
  const ends: unknown[] = []
  for (const viewer of [anna, ben]) {
    const request = { document: parse(titled), viewer, requestId: 'request-1' }
    const joined = await hub.join({
      request,
      formatErrors() {
        throw mistake
      },
    })
    if (!('listen' in joined)) throw new Error('it did not start')
    joined.listen({ send() {}, end: errors => ends.push(errors) })
  }
  events.announce('thing', { id: 'broken' })
  await expect.poll(() => ends).toMatchObject(Array(2).fill([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]))
  expect([failures, upstreams(), events.listenerCount()]).toEqual([[mistake], 0, 0])
})

test('restarts a source that fails or ends, without sending subscribers an end or a null', async () => {
  const client = await join(titled, anna)
  for (const end of [() => world.breaks.at(-1)!(new Error('cut')), () => world.ends.at(-1)!()]) {
    const before = world.opened
    end()
    await expect.poll(() => world.opened).toBe(before + 1)
    events.announce('thing', { id: String(before) })
    await expect.poll(() => client.heard.at(-1)).toEqual({ data: { changed: { n: String(before), title: `title ${before}` } } })
  }
  expect(client.ended).toEqual([])
  expect(client.heard).toHaveLength(2)
})

test('ends the stream with UPSTREAM_FAILED when its source fails each time before the first event', async () => {
  const client = await join(titled, anna)
  const breaking = setInterval(() => world.breaks.at(-1)!(new Error('cut')), 1)
  try {
    await expect.poll(() => client.ended).toMatchObject([[{ extensions: { code: 'UPSTREAM_FAILED' } }]])
  } finally {
    clearInterval(breaking)
  }
  expect(client.heard).toEqual([])
})

test('ends the stream with UPSTREAM_FAILED when its source does not return', async () => {
  const clients = [await join(titled, anna), await join(titled, ben)]
  world.refuses = new DomainError('UPSTREAM_FAILED', 'Not now.')
  world.breaks.at(-1)!(new Error('cut'))
  await expect.poll(() => clients.map(({ ended }) => ended)).toMatchObject(Array(2).fill([[{ extensions: { code: 'UPSTREAM_FAILED' } }]]))
  expect([upstreams(), hub.figures.subscriptions().size]).toEqual([0, 0])
  world.refuses = null
  const again = await join(titled, anna)
  events.announce('thing', { id: '1' })
  await expect.poll(() => again.heard.length).toBe(1)
})

test('ends the stream with the reason as soon as its source is rejected permanently', async () => {
  hub.close()
  hub = createHub(graph.engine, { patience: { ...patience, lostMs: 600_000 } })
  const client = await join(titled, anna)
  world.refuses = new DomainError('NOT_FOUND', 'It is gone.')
  world.breaks.at(-1)!(new Error('cut'))
  await expect.poll(() => client.ended).toMatchObject([[{ message: 'It is gone.', extensions: { code: 'NOT_FOUND' } }]])
})

test('returns a rejection at the start to all who wait, and does not cache it', async () => {
  world.refuses = new DomainError('FORBIDDEN', 'Not yours.')
  await expect(Promise.all([join(titled, anna), join(titled, ben)])).rejects.toThrow('Not yours.')
  expect(upstreams()).toBe(0)
  world.refuses = null
  await join(titled, anna)
  expect(upstreams()).toBe(1)
})

test('delivers an error of one event and continues', async () => {
  const client = await join('subscription { changed { id n } }', anna)
  events.announce('thing', { n: 'without an id' })
  events.announce('thing', { id: '2' })
  await expect.poll(() => client.heard.length).toBe(2)
  expect(client.heard).toMatchObject([{ data: { changed: null }, errors: [{ path: ['changed', 'id'] }] }, { data: { changed: { id: '2' } } }])
})

test('many clients do not block the event loop', async () => {
  const clients = await Promise.all(Array.from({ length: 900 }, () => join(titled, anna)))
  let turns = 0
  let counting = true
  const count = () => {
    turns += 1
    if (counting) setImmediate(count)
  }
  clients[0]!.membership.leave()
  const [seenFirst, seenLast] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  clients[1]!.heard.push = () => {
    seenFirst.resolve(turns)
    return 0
  }
  clients[899]!.heard.push = () => {
    seenLast.resolve(turns)
    return 0
  }
  count()
  events.announce('thing', { id: '1' })
  expect((await seenLast.promise) - (await seenFirst.promise)).toBeGreaterThanOrEqual(3)
  counting = false
})

test('limits the subscriptions of one caller over all operations', async () => {
  hub.close()
  hub = createHub(graph.engine, { perCaller: 2, patience })
  const first = await join(titled, anna)
  await join('subscription { mine { n } }', anna)
  await expect(join(titled, anna)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await join(titled, ben)
  first.membership.leave()
  await join(titled, anna)
})

test('counts streams by operation name, up to a maximum number of names', async () => {
  for (let n = 0; n < 502; n += 1) await join(`subscription Name${n} { changed { n } }`, anna, { caller: String(n) })
  await join('subscription { changed { n } }', anna)
  const counted = hub.figures.subscriptions()
  expect([counted.size, counted.get('Name0'), counted.get('other')]).toEqual([502, 1, 2])
})

test('all subscribers of a shared stream receive the same; those whose access or sharing promises differ have another stream', async () => {
  const other: Part = {
    sdl: `${shared}
      type Query { x: Int }
      type Subscription { any: Any @shared(by: ORGANIZATION) }
      interface Any { n: String }
      type Open implements Any @shared(by: ORGANIZATION) {
        n: String
        closed: String @requiresScopes(scopes: [["publishing:posts.read"]])
        scoped: String @shared(by: ORGANIZATION, sameScopes: true)
      }
      type Silent implements Any { n: String }`,
  }
  const { engine } = testGraph({ other }, { access: createAccessFilter(readAccessTable(compose({ other }))) })
  const reader = { ...ben, scopes: ['publishing:posts.read'] }
  const streams = async (source: string, viewers: readonly Viewer[]) => {
    const all = await Promise.all(viewers.map(viewer => engine.prepareStream({ document: parse(source), viewer, requestId: 'request-1' })))
    return new Set(all.map(each => ('key' in each ? each.key : JSON.stringify(each)))).size
  }
  const viewers = [anna, { ...anna, scopes: [] }, reader, { ...reader, userId: 'dora' }]
  expect(await streams('subscription { any { ... on Open { n } } }', viewers)).toBe(1)
  expect(await streams('subscription { any { ... on Open { n closed } } }', [{ ...anna, scopes: [] }, reader, { ...reader, userId: 'dora' }])).toBe(2)
  expect(await streams('subscription { any { ... on Open { scoped } } }', [{ ...anna, scopes: [] }, reader, { ...reader, userId: 'dora' }])).toBe(2)
  // One of its possible types gives no guarantee.
  expect(await streams('subscription { any { n } }', [reader, { ...reader, userId: 'dora' }])).toBe(2)
})
