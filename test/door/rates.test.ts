import { createClient } from 'graphql-ws'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { nounRoutes } from '../../router/rest/derive/route.ts'
import type { RouteTable } from '../../router/rest/row.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const tables: readonly RouteTable[] = [{ slug: 'launcher', rows: nounRoutes({ select: { Viewer: 'kind' }, routes: { 'GET /api/hello': 'viewer' } }) }]

type Door = Awaited<ReturnType<typeof openRouter>>
let door: Door
let passed = 0
beforeEach(async () => {
  passed = 0
  door = await openRouter(schemaEngine(smallGraph()), { tables, rates: { each: 2, keys: 4 }, elapsed: () => passed })
})
afterEach(() => door.close())

const post = (query: string, headers: Record<string, string> = {}) => door.gql(query, headers)
const codeOf = ({ json }: { json: { errors?: { extensions: { code: string } }[]; code?: string } }) => json.errors?.[0]?.extensions.code ?? json.code

/** What a WebSocket is told: of a query its only result. */
const overSocket = (query: string, connectionParams: Record<string, string> = {}) =>
  new Promise<{ errors?: readonly { extensions: object }[]; data?: unknown }>((resolve, reject) => {
    const client = createClient({ url: `${door.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams })
    const over = (value: object) => {
      resolve(value)
      void client.dispose()
    }
    client.subscribe({ query }, { next: over as never, error: cause => (Array.isArray(cause) ? over({ errors: cause }) : reject(cause)), complete() {} })
  })

test('S-12 rejects callers above RATE_LIMIT over every protocol, with the seconds to wait', async () => {
  for (const _ of [1, 2]) expect((await post('{ hello }')).status).toBe(200)
  const refused = [
    await post('{ hello }'),
    await door.ask('/graphql?query={hello}'),
    await door.ask('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{"query":"subscription { tick }"}',
    }),
    await door.ask('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed;subscriptionSpec="1.0"' },
      body: '{"query":"subscription { tick }"}',
    }),
    await door.ask('/launcher/api/hello'),
  ]
  for (const answer of refused) {
    expect([answer.status, answer.headers['retry-after'], codeOf(answer)], answer.text).toEqual([429, '30', 'RATE_LIMITED'])
    expect(answer.text).toContain('At most 2 operations a minute')
  }
  const limited = { code: 'RATE_LIMITED', retryAfter: 30 }
  for (const query of ['{ hello }', 'subscription { tick }']) expect((await overSocket(query)).errors).toMatchObject([{ extensions: limited }])
  passed += 30_000
  expect((await door.ask('/launcher/api/hello')).status).toBe(200)
  expect((await post('{ hello }')).status).toBe(429)
  passed += 30_000
  expect(await overSocket('{ hello }')).toEqual({ data: { hello: 'Hello world' } })
})

test('S-12 each caller has its own full limit, and API keys have theirs', async () => {
  door.keys.set('hash of one', { keyId: 'one', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
  door.signIn('ada')
  const ada = { authorization: `Bearer ${await door.token('ada')}` }
  const statuses = async (headers: Record<string, string>) => {
    const all: number[] = []
    for (let at = 0; at < 5; at++) all.push((await post('{ hello }', headers)).status)
    return all
  }
  expect(await statuses({})).toEqual([200, 200, 429, 429, 429])
  expect(await statuses(ada)).toEqual([200, 200, 429, 429, 429])
  expect(await statuses({ 'x-api-key': 'one' })).toEqual([200, 200, 200, 200, 429])
})

test('limits a key to its rate over all protocols together, and allows it again after a minute', async () => {
  await door.close()
  door = await openRouter(schemaEngine(smallGraph()), { tables, elapsed: () => passed })
  const keyed = (rateLimit: number) => ({ keyId: `key of ${rateLimit}`, organizationId: 'org-1', userId: null, rateLimit, scopes: [], expiresAt: null })
  door.keys.set('hash of slow', keyed(4))
  door.keys.set('hash of slow, before', keyed(4))
  door.keys.set('hash of free', keyed(600))
  const slow = { 'x-api-key': 'slow' }
  const hello = (headers = slow) => door.ask('/launcher/api/hello', { headers })
  expect((await post('{ hello }', slow)).status).toBe(200)
  passed += 10_000
  expect((await hello()).status).toBe(200)
  // An invalid operation still counts as a request.
  expect((await post('{ nothing }', { 'x-api-key': 'slow, before' })).status).toBe(200)
  expect(await overSocket('{ hello }', slow)).toEqual({ data: { hello: 'Hello world' } })
  for (const answer of [await post('{ hello }', slow), await hello(), await hello({ 'x-api-key': 'slow, before' })])
    expect([answer.status, answer.headers['retry-after'], codeOf(answer)], answer.text).toEqual([429, '50', 'RATE_LIMITED'])
  for (const query of ['{ hello }', 'subscription { tick }'])
    expect((await overSocket(query, slow)).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfter: 50 } }])
  expect((await hello({ 'x-api-key': 'free' })).status).toBe(200)
  expect((await hello({} as typeof slow)).status).toBe(200)
  passed += 49_999
  expect((await hello()).status).toBe(429)
  passed += 1
  expect([(await hello()).status, (await hello()).status]).toEqual([200, 429])
})
