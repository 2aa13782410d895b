import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveInvalidation } from '../../router/door/http/invalidation.ts'
import { label } from '../../router/engine/transport/cache/store.ts'
import { cachedGraph, people } from '../engine/caching/graph.ts'
import { openRouter } from './platform.ts'

const { parts, names } = people()
const graph = await cachedGraph(parts, { dropsOnMutation: true })
let short: Awaited<ReturnType<typeof openRouter>>
let long: typeof short
let dropped: unknown

beforeAll(async () => {
  short = await openRouter(graph.engine, {
    extend: app =>
      serveInvalidation(app, 'a-token-of-the-test', async given => {
        dropped = given
        return 3
      }),
  })
  long = await openRouter(graph.engine, { direct: false })
})
afterAll(() => Promise.all([short.close(), long.close(), graph[Symbol.asyncDispose]()]))

describe('headers of an answer', () => {
  it('say its age, its scope and its state in the cache, with Apollo Server and without', async () => {
    for (const door of [short, long]) {
      graph.cache.drop([label.subgraph('a'), label.subgraph('b')], 'request')
      const ask = async (query: string, headers: Record<string, string> = {}) => {
        const answer = await door.gql(query, headers)
        return [answer.headers['cache-control'], answer.headers['x-response-cache'], answer.headers.vary]
      }
      expect(await ask('{ count }')).toEqual(['max-age=20, public', 'miss', 'accept, Origin'])
      graph.pass(1)
      expect(await ask('{ count }')).toEqual(['max-age=19, public', 'hit', 'accept, Origin'])
      expect(await ask('{ count mine }', { 'x-who': 'ann' })).toEqual(['max-age=19, private', 'partial', 'accept, authorization, cookie, x-api-key, Origin'])
      expect(await ask('{ now }')).toEqual(['no-store', 'miss', 'Origin'])
      expect(await ask('{ count }', { 'cache-control': 'no-store' })).toEqual(['max-age=20, public', 'bypass', 'accept, Origin'])
      expect(await ask('{ person(id: "2") { fails } }')).toEqual(['no-store', 'miss', 'Origin'])
      expect(await ask('mutation { rename(id: "1", name: "Anna") { id } }')).toEqual(['no-store', undefined, 'Origin'])
      expect(await ask('{ count }')).toEqual(['max-age=20, public', 'miss', 'accept, Origin'])
      expect(await ask('{ nothing }')).toEqual(['no-store', undefined, 'Origin'])
    }
    expect(names[1]).toBe('Anna')
  })

  it('are the same for GET, and no-store for a stream', async () => {
    const get = (accept: string) => short.ask('/graphql?query=%7Bcount%7D', { headers: { accept, 'apollo-require-preflight': '1' } })
    const { headers, json } = await get('application/graphql-response+json')
    expect([headers['cache-control'], json]).toEqual(['max-age=20, public', { data: { count: 3 } }])
    expect((await get('text/event-stream')).headers['cache-control']).toContain('no-store')
  })

  it('are no-store where fragments are deferred', async () => {
    const { headers } = await short.gql('{ count ... @defer { people { note } } }', { accept: 'multipart/mixed;incrementalSpec=v0.2' })
    expect([headers['cache-control'], headers['x-response-cache']]).toEqual(['no-store', 'bypass'])
    const whole = await short.gql('{ count ... @defer { people { note } } }')
    expect(whole.headers['x-response-cache']).toBe('partial')
  })
})

describe('POST /invalidation', () => {
  const send = (body: unknown, authorization?: string) =>
    short.ask('/invalidation', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      body: JSON.stringify(body),
    })
  const all = [
    { kind: 'subgraph', subgraph: 'a' },
    { kind: 'type', subgraph: 'a', type: 'Person' },
    { kind: 'cache_tag', subgraphs: ['a', 'b'], cache_tag: 'one' },
  ]

  it('drops what it names with the token, alone or as a bearer token', async () => {
    for (const authorization of ['a-token-of-the-test', 'Bearer a-token-of-the-test']) {
      dropped = undefined
      const { status, json } = await send(all, authorization)
      expect([status, json, dropped]).toEqual([202, { count: 3 }, all])
    }
  })

  it('refuses everybody else with 401, and another body with 400', async () => {
    dropped = undefined
    for (const authorization of [undefined, '', 'Bearer', 'Bearer another-token-of-this', 'a-token-of-the-test2'])
      expect((await send(all, authorization)).status).toBe(401)
    for (const body of [{}, [], [{ kind: 'all' }], [{ kind: 'type', subgraph: 'a' }], [{ kind: 'cache_tag', subgraphs: [], cache_tag: 'x' }], [...all, null]]) {
      const { status, json } = await send(body, 'a-token-of-the-test')
      expect([status, json.detail]).toEqual([400, expect.stringContaining('no list of invalidations')])
    }
    expect(dropped).toBeUndefined()
  })

  it('is not there without a token', async () => {
    expect((await long.ask('/invalidation', { method: 'POST' })).status).toBe(404)
  })
})
