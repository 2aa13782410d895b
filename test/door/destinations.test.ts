import { randomBytes } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { Agent as Dispatcher } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { localOrigins } from '../../config/hosts.ts'
import { addressHeader } from '../../platform/caller/cause.ts'
import { systemClock } from '../../platform/clock.ts'
import { rememberSeals, serveAsk } from '../../router/apart/ask.ts'
import { answerAuthority, authorityPath, createRemoteAuthority } from '../../router/apart/authority.ts'
import { createRemoteTarget } from '../../router/apart/http.ts'
import { type SubgraphServer, serveSubgraph } from '../../router/apart/server.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { openOrigin } from '../../router/engine/transport/exchange.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { canonicalPath, createHosts } from '../../router/hosts.ts'
import { pathOf } from '../../router/rest/row.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { createRouter, type Router, type RouterOptions } from '../../router/router.ts'
import { createSealReader, forAsk, forForward, forOperation, forStream, type Purpose, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { freePort } from '../kit/launch.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

/**
 * Every door is tried against every destination behind it, in both modes. What a request reached is written down by what is
 * reached, under the request's id: nothing may be but what its address, as it stands, is routed to.
 */

let graph: Supergraph
const open: (() => Promise<unknown>)[] = []
/** By request id: `engine`, `publishing graphql`, or slug and path of what came to a subgraph's own HTTP. */
const reached = new Map<string, string[]>()
const note = (id: string | null, what: string) => reached.set(id ?? '-', [...(reached.get(id ?? '-') ?? []), what])

const noting = (subgraph: Subgraph): Subgraph => ({
  ...subgraph,
  open(viewer, operation) {
    note(operation.requestId, `${subgraph.registration.slug} graphql`)
    return subgraph.open(viewer, operation)
  },
  ...(subgraph.http && {
    http(request: Request, viewer) {
      note(request.headers.get('x-request-id'), `${subgraph.registration.slug} ${new URL(request.url).pathname}`)
      return subgraph.http!(request, viewer)
    },
  }),
})

const notingEngine = (engine: Engine): Engine => ({
  ...engine,
  execute(request) {
    note(request.requestId, 'engine')
    return engine.execute(request)
  },
})

const foreignSeal = createSeal({ id: 'test', key: randomBytes(32) }, systemClock)
const key = { id: 'test', key: randomBytes(32) }
const makeSeal = createSeal(key, systemClock)
const servers = new Map<string, SubgraphServer>()
const routers = new Map<'embedded' | 'apart', { readonly router: Router; readonly port: number }>()

beforeAll(async () => {
  graph = await supergraph()
  const subgraphs = graph.platform.subgraphs.map(noting)
  const engine = notingEngine(graph.platform.engine)
  const start = async (mode: 'embedded' | 'apart', more: Partial<RouterOptions>) => {
    const port = await freePort()
    const router = await createRouter({
      engine,
      authority: graph.platform.identity.authority,
      subgraphs,
      host: 'localhost',
      port,
      publicUrl: `http://localhost:${port}`,
      environment: 'development',
      clock: graph.clock,
      log: graph.job.log,
      readiness: [],
      ...more,
    })
    await router.listen()
    open.push(() => router.close())
    routers.set(mode, { router, port })
  }
  await start('embedded', {})

  for (const subgraph of subgraphs) {
    const { slug } = subgraph.registration
    const seals = rememberSeals(createSealReader({ audience: slug, keys: [publicHalf(key)], clock: systemClock }))
    const internal = slug === 'identity' ? new Map([[authorityPath, answerAuthority(graph.platform.identity.authority)]]) : new Map()
    const server = await serveSubgraph({
      subgraph,
      seals,
      host: '127.0.0.1',
      port: 0,
      publicUrl: 'http://localhost:4000',
      readiness: [],
      internal,
      log: graph.job.log,
    })
    open.push(() => server.close())
    servers.set(slug, server)
  }
  const urlOf = (slug: string) => `http://127.0.0.1:${servers.get(slug)!.port}`
  const dispatcher = new Dispatcher()
  const questions = openOrigin(urlOf('identity'), { connections: 4, mostWaiting: 100, mostBytes: 1_000_000 })
  open.push(
    () => dispatcher.destroy(),
    () => questions.close(),
  )
  const { issuer, audience, hashKey } = graph.platform.identity.authority
  await start('apart', {
    authority: createRemoteAuthority({ origin: questions, seal: makeSeal, issuer, audience, hashKey }),
    subgraphs: subgraphs.map(({ registration: { slug } }) => createRemoteTarget(slug, [urlOf(slug)], makeSeal, dispatcher)),
    extend(app) {
      const documents = createDocuments(engine.schema, { introspection: false })
      serveAsk(app, {
        engine,
        authority: graph.platform.identity.authority,
        documents,
        registrations: subgraphs.map(each => each.registration),
        keys: [publicHalf(key)],
        clock: systemClock,
      })
    },
  })
})
afterAll(async () => {
  for (const close of open.reverse()) await close()
  agent.destroy()
  await graph?.[Symbol.asyncDispose]()
})

const agent = new Agent({ keepAlive: true, maxSockets: 8 })
let asked = 0

/** Of use to every destination that it could come to. */
const body = '{"query":"{ _service { sdl } _entities(representations: []) { __typename } }","ask":"jwks"}'
/** Whose requests those are that come to a subgraph's own port. */
const address = '127.0.0.1'

/** Sends a request line as it is written. */
function knock(port: number, target: string, { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {}) {
  const id = `request-${asked++}`
  return new Promise<{ status: number; text: string; reached: readonly string[] }>((resolve, reject) => {
    const own = { host: `localhost:${port}`, 'content-type': 'application/json', 'x-request-id': id, [addressHeader]: address }
    const sent = httpRequest({ host: '127.0.0.1', port, path: target, method, headers: { ...own, ...headers }, agent }, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode!, text, reached: reached.get(id) ?? [] })
    })
    sent.on('error', reject).end(method === 'GET' ? undefined : body)
  })
}

/** An address that a row of the tables answers. */
const concrete = (path: string) =>
  path
    .replace(/:platform/, 'x')
    .replace(/:\w+/g, '1')
    .replace('/*', '/token')
const rows = routeTables.flatMap(({ slug, rows }) => rows.map(row => ({ row, address: concrete(pathOf(slug, row)) })))
const forwards = rows.flatMap(({ row, address }) =>
  row.kind === 'forward' ? [{ to: row.to, path: row.path, address, method: row.method === '*' ? 'GET' : row.method, isPublic: 'public' in row.access }] : [],
)
const doors = [...new Set([...rows.map(({ address }) => address), '/graphql', '/health/live', '/health/ready', '/internal/ask'])]
const destinations = ['/graphql', '/internal/authority', '/internal/ask', ...new Set(forwards.map(({ address }) => address)), '/health/ready']

/** Addresses that a second reader could take for another than the one they look like; `up` climbs from the door to the root. */
function disguises(door: string, destination: string): string[] {
  const levels = door.split('/').length - 1
  const climb = (step: string) => `${door}/${step.repeat(levels)}${destination.slice(1)}`
  return [
    ...['../', './../', '%2e%2e/', '%2E%2E/', '.%2e/', '%2e./', '..%2f', '..%2F', '%2e%2e%2f', '..\\', '..%5c', '%2e%2e%5C', '..//'].map(climb),
    `${door}/..${destination}`,
    `${door}//..${destination}`,
    `${door}%00${destination}`,
    `${door}%2f..${destination}`,
    `${door}#${destination}`,
    `/${destination}`,
    `/.${destination}`,
    `/%2e${destination}`,
    `/x/..${destination}`,
    `http://evil.example${destination}`,
    `http://localhost@evil.example${destination}`,
    `http://localhost${climb('../')}`,
    `http://publishing.localhost/${destination}`,
    `${destination.slice(0, 2)}%${destination.charCodeAt(2).toString(16)}${destination.slice(3)}`,
  ]
}

/** Addresses that only look so: they mean what they say, which is nothing, or something below a door. */
const oddities = (door: string, destination: string): string[] => [
  `${door}${destination}`,
  `${door}/%252e%252e${destination}`,
  `${door}/...${destination}`,
  `${door};/x${destination}`,
  `${door}?/../..${destination}`,
  `/identity${destination}`,
  `/publishing${destination}`,
  `/launcher${destination}`,
  `http://identity.localhost${destination}`,
  `http://publishing.localhost${door}`,
]

/**
 * Addresses from doors to destinations, each once: one door has all of its addresses on each host. Of the other pairs every fifth is
 * taken, and forms and hosts take turns, so that every door and every destination meets every form.
 */
function* all(make: typeof disguises, port: number): Generator<readonly [host: string, target: string]> {
  const hosts = hostsOf(port)
  const seen = new Set<string>()
  for (const [at, door] of doors.entries())
    for (const [to, destination] of destinations.entries()) {
      const forms = make(door, destination)
      const isWhole = door === '/identity/api/auth/token'
      if (!isWhole && (at + 2 * to) % 5 !== 0) continue
      const some = isWhole ? forms : [forms[(at + to) % forms.length]!]
      for (const target of some) {
        if (seen.has(target)) continue
        seen.add(target)
        const turn = hosts[seen.size % hosts.length]!
        for (const host of isWhole ? hosts : [turn]) yield [host, target]
      }
    }
}

/** Runs a few at a time. */
async function each<Value>(values: Iterable<Value>, run: (value: Value) => Promise<void>): Promise<void> {
  const left = values[Symbol.iterator]()
  const work = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await run(next.value)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const hostsOf = (port: number) => [
  `localhost:${port}`,
  '127.0.0.1',
  `identity.localhost:${port}`,
  `publishing.localhost:${port}`,
  `web.publishing.localhost:${port}`,
  'evil.example',
]

/** What an address as it stands is routed to: a forwarded request comes to its own subgraph under the very path. */
function expectedAt(port: number, host: string, target: string): string[] {
  const hosts = createHosts(`http://localhost:${port}`, localOrigins(`http://localhost:${port}`))
  const [, named, rest] = /^http:\/\/([^/]+)(.*)$/.exec(target) ?? [target, host, target]
  const path = canonicalPath(hosts, named!, rest!).split('?')[0]!
  const row = forwards.find(each => (each.path.endsWith('/*') ? path.startsWith(`/${each.to}${each.path.slice(0, -1)}`) : path === each.address))
  return row ? [`${row.to} ${path}`] : []
}

describe.each(['embedded', 'apart'] as const)('%s', mode => {
  const port = () => routers.get(mode)!.port
  // All knocks come from one address, whose calls without credentials both routers count together.
  beforeEach(() => graph.rows('delete from identity.limits'))

  test('every address leads to its own destination', async () => {
    for (const { address, method, isPublic } of forwards) {
      const { reached: found } = await knock(port(), address, { method })
      // No request passes a route that requires a credential.
      expect([method, address, found]).toEqual([method, address, isPublic ? expectedAt(port(), '', address) : []])
    }
    const { text } = await knock(port(), '/graphql')
    expect(JSON.parse(text).errors.map((error: { message: string }) => error.message)).toEqual([
      expect.stringContaining('Cannot query field "_service"'),
      expect.stringContaining('Cannot query field "_entities"'),
    ])
    expect((await knock(port(), '/health/ready', { method: 'GET' })).status).toBe(200)
    expect((await knock(port(), '/internal/ask')).status).toBe(mode === 'apart' ? 401 : 404)
  })

  test('an ambiguous address leads nowhere, on any host', async () => {
    const led: unknown[] = []
    await each(all(disguises, port()), async ([host, target]) => {
      const answer = await knock(port(), target, { headers: { host } })
      if (answer.status !== 400 || answer.reached.length > 0) led.push([host, target, answer])
    })
    expect(led).toEqual([])
  }, 120_000)

  test('an address that only resembles a special one is read literally', async () => {
    const led: unknown[] = []
    await each(all(oddities, port()), async ([host, target]) => {
      const answer = await knock(port(), target, { headers: { host } })
      const expected = expectedAt(port(), host, target)
      const unexpected = answer.reached.filter(each => each !== 'engine' && !expected.includes(each))
      if (unexpected.length > 0 || /"sdl"|"keys"/.test(answer.text)) led.push([host, target, answer])
    })
    expect(led).toEqual([])
  }, 120_000)
})

describe('a subgraph’s own port', () => {
  /** Every purpose that a seal can have here, and whether it opens a place. */
  const purposes = (method: string, place: string): [string, Purpose][] => [
    ['an operation', forOperation],
    ['this request', forForward({ method, target: place, address }, body)],
    ['another request', forForward({ method, target: `${place}/more`, address }, body)],
    ['this request by another method', forForward({ method: 'PATCH', target: place, address }, body)],
    ['this request of another caller', forForward({ method, target: place, address: '' }, body)],
    ['this request with another body', forForward({ method, target: place, address }, '')],
    ['this stream', forStream({ method, target: place, address })],
    ['another stream', forStream({ method, target: `${place}/more`, address })],
    ['this question', forAsk(method, place, body)],
    ['another question', forAsk(method, `${place}/more`, body)],
    ['this question with another body', forAsk(method, place, '')],
  ]
  const ownOf = (slug: string, place: string) =>
    place === '/graphql'
      ? 'an operation'
      : slug === 'identity' && place === authorityPath
        ? 'this question'
        : graph.platform.subgraphs.find(({ registration }) => registration.slug === slug)?.streams?.some(path => place.startsWith(path))
          ? 'this stream'
          : 'this request'
  const router = { ...anonymous, kind: 'service' as const, appId: 'app_router' }

  test('opens each place to a seal for it, and to no other, nor to one for another subgraph', async () => {
    const wrong: unknown[] = []
    for (const [slug, server] of servers)
      for (const place of [...destinations, '/internal/other', '/', '/anything'])
        for (const audience of servers.keys())
          for (const [what, purpose] of [['nothing', null] as const, ...purposes('POST', place)]) {
            if (place === '/health/ready') continue
            // To another subgraph's seal it matters little what it is for: what would open the place, and what opens most.
            if (audience !== slug && what !== ownOf(slug, place) && what !== 'an operation') continue
            const headers: Record<string, string> = purpose ? { [sealHeader]: await makeSeal(router, audience, purpose) } : {}
            const answer = await knock(server.port, place, { headers })
            const opens = audience === slug && what === ownOf(slug, place)
            // An admitted caller may be refused there for another kind of signature.
            if ((answer.status !== 401 || answer.reached.length > 0) !== opens) wrong.push([slug, place, audience, what, answer])
          }
    expect(wrong).toEqual([])
    expect((await knock(servers.get('identity')!.port, '/health/ready', { method: 'GET' })).status).toBe(200)
  }, 120_000)

  test('rejects an ambiguous address, whatever its seal is for', async () => {
    const wrong: unknown[] = []
    for (const [slug, server] of servers)
      for (const destination of destinations)
        for (const [at, target] of disguises('/identity/api/auth/token', destination).entries())
          for (const [what, purpose] of purposes('POST', destination)) {
            // Each address comes with what would open its destination; the other purposes take turns.
            if (what !== ownOf(slug, destination) && what !== purposes('POST', destination)[at % 11]![0]) continue
            const answer = await knock(server.port, target, { headers: { [sealHeader]: await makeSeal(router, slug, purpose) } })
            if (answer.status !== 400 || answer.reached.length > 0) wrong.push([slug, target, answer])
          }
    expect(wrong).toEqual([])
  }, 120_000)

  test('accepts sockets at /graphql for operations only', async () => {
    for (const [slug, server] of servers)
      for (const [what, purpose] of purposes('POST', '/graphql')) {
        const payload = { [sealHeader]: await makeSeal(router, slug, purpose) }
        const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws')
        socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload })))
        const heard = await new Promise(resolve => socket.on('message', data => resolve(JSON.parse(String(data)).type)).on('close', resolve))
        expect([slug, what, heard]).toEqual([slug, what, what === 'an operation' ? 'connection_ack' : 4403])
        socket.terminate()
      }
  })

  test('and the router’s path for subgraph calls accepts the seal that a subgraph received for a caller', async () => {
    const { port } = routers.get('apart')!
    for (const [what, purpose] of purposes('POST', '/internal/ask')) {
      const answer = await knock(port, '/internal/ask', { headers: { [sealHeader]: await makeSeal({ ...anonymous }, 'launcher', purpose) } })
      // A handler that takes a stream does not check its caller.
      expect([what, answer.status]).toEqual([what, /question|stream/.test(what) ? 401 : 400])
    }
    const foreign = await knock(port, '/internal/ask', { headers: { [sealHeader]: await foreignSeal({ ...anonymous }, 'launcher', forOperation) } })
    expect(foreign.status).toBe(401)
  })
})
