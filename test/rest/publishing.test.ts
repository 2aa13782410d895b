import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { buildSchema, GraphQLError } from 'graphql'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { createAccessFilter } from '../../router/access/filter.ts'
import { readAccessTable } from '../../router/access/rules.ts'
import type { Engine } from '../../router/engine/engine.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { openRouter, schemaEngine, type TestContext } from '../door/platform.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

type Row = Record<string, unknown> & { id: string; version: number }
const posts = new Map<string, Row>()
const calls: Record<string, unknown>[] = []
const [brandId, threadId, slowBrandId] = [newId(), newId(), newId()]
/** The question for the slow brand: what would abort it, and what lets it go on. */
let waiting: PromiseWithResolvers<{ readonly signal: AbortSignal; readonly go: () => void }>

function writePost(input: Record<string, unknown>): Row {
  const post = {
    id: newId(),
    brandId,
    threadId,
    position: 1,
    copy: '',
    platform: 'X',
    status: input.scheduledAt ? 'SCHEDULED' : 'DRAFT',
    deliveryPhase: 'NONE',
    approval: 'NONE',
    tags: [],
    media: [],
    origin: 'PERSON',
    held: false,
    createdAt: '2027-03-01T09:00:00.000Z',
    updatedAt: '2027-03-01T09:00:00.000Z',
    version: 1,
    author: { id: 'author-1' },
    ...input,
  }
  posts.set(post.id, post)
  return post
}

const find = (id: string) => {
  const post = posts.get(id)
  if (!post) throw new DomainError('NOT_FOUND', 'There is no such post.')
  return post
}

type Input = { input: Record<string, unknown> & { id: string; expectedVersion?: number } }

/** Publishing's root fields over a map, under the client schema and the access rules of the real supergraph. */
const root = {
  Query: {
    post: ({ id }: { id: string }) => posts.get(id) ?? null,
    posts: async (asked: Record<string, unknown>, { signal }: TestContext) => {
      calls.push(asked)
      if (asked.brandId === slowBrandId) await new Promise<void>(resolve => waiting.resolve({ signal: signal!, go: resolve }))
      const nodes = [...posts.values()]
      return { nodes: nodes.slice(0, asked.first as number), totalCount: nodes.length, pageInfo: { hasNextPage: nodes.length > 1, endCursor: 'cursor-1' } }
    },
    publishingWidget: () => ({ statistics: [{ key: 'failed', label: 'Failed', value: 2 }], items: [], nextAction: null, chart: null }),
  },
  Mutation: {
    createPost: ({ input }: Input) => {
      calls.push(input)
      return writePost(input)
    },
    updatePost: ({ input: { id, expectedVersion, ...change } }: Input) => {
      calls.push({ ...change, ...(expectedVersion !== undefined && { expectedVersion }) })
      const post = find(id)
      if (expectedVersion !== undefined && expectedVersion !== post.version)
        throw new DomainError('CONFLICT', `The post is at version ${post.version}: read it again.`, { reason: 'STALE_VERSION', version: post.version })
      return Object.assign(post, change, { version: post.version + 1 }, 'scheduledAt' in change && { status: change.scheduledAt ? 'SCHEDULED' : 'DRAFT' })
    },
    deletePost: ({ input: { id } }: Input) => {
      const post = find(id)
      posts.delete(id)
      return post
    },
    connectIntegration: ({ input }: Input) => {
      calls.push(input)
      return { authorizationUrl: 'https://network.example/authorize?state=s' }
    },
  },
}

/** Told before whatever else an operation is told: as the router tells what it refuses before anything runs. */
const refusedBelow: GraphQLError[] = []

function publishing(): Engine {
  const schema = buildSchema(read('schema/api.graphql'), { assumeValid: true })
  for (const [type, fields] of Object.entries(root))
    for (const [name, resolver] of Object.entries(fields))
      schema[type === 'Query' ? 'getQueryType' : 'getMutationType']()!.getFields()[name]!.resolve = (_source, input, context) =>
        (resolver as (input: unknown, context: TestContext) => unknown)(input, context)
  const engine = schemaEngine(schema, createAccessFilter(readAccessTable(read('schema/supergraph.graphql'))))
  return {
    ...engine,
    async execute(request) {
      const result = await engine.execute(request)
      return refusedBelow.length > 0 ? { ...result, errors: [...refusedBelow, ...(result.errors ?? [])] } : result
    },
  }
}

const page = (slug: string) =>
  ({
    registration: { slug },
    http: async (request: Request) => new Response(`${slug} ${request.method} ${new URL(request.url).pathname}`),
  }) as unknown as Subgraph

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
let member: Record<string, string>
beforeAll(async () => {
  platform = await openRouter(publishing(), {
    subgraphs: [page('agents'), page('identity'), page('launcher'), page('payments'), page('providers'), page('publishing')],
    tables: (await import('../../router/rest/tables.ts')).routeTables,
  })
  platform.signIn('member', { userId: newId(), organizationId: newId(), roles: ['owner'] })
  platform.keys.set('hash of reader', {
    keyId: 'reader',
    organizationId: 'o',
    userId: null,
    rateLimit: 600,
    scopes: ['publishing:posts.read'],
    expiresAt: null,
  })
  platform.keys.set('hash of writer', {
    keyId: 'writer',
    organizationId: 'o',
    userId: null,
    rateLimit: 600,
    scopes: ['publishing:posts.read', 'publishing:posts.write'],
    expiresAt: null,
  })
  member = { authorization: `Bearer ${await platform.token('member')}` }
})
afterAll(() => platform.close())
beforeEach(() => {
  posts.clear()
  calls.length = 0
  waiting = Promise.withResolvers()
})

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = member) =>
  platform.ask(`/publishing/api${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

describe('S-05 posts over REST', () => {
  test('POST creates one: 201, Location, its version, the graph’s names and enum values in lower case', async () => {
    const answer = await ask(
      'POST',
      '/posts',
      { brandId, platform: 'x', copy: 'Hello', target: { kind: 'page', externalId: '1' } },
      { ...member, 'idempotency-key': 'once' },
    )
    expect(answer.status).toBe(201)
    expect(answer.headers).toMatchObject({
      location: `/publishing/api/posts/${answer.json.id}`,
      etag: '"1"',
      'content-type': expect.stringMatching(/^application\/json/),
    })
    expect(answer.json).toMatchObject({
      copy: 'Hello',
      platform: 'x',
      status: 'draft',
      deliveryPhase: 'none',
      approval: 'none',
      threadId,
      version: 1,
      author: { id: 'author-1' },
      target: { kind: 'page' },
    })
    expect(calls[0]).toMatchObject({ brandId, platform: 'X', copy: 'Hello', idempotencyKey: 'once', target: { kind: 'PAGE', externalId: '1' } })
    expect((await platform.ask(answer.headers.location!, { headers: member })).json).toEqual(answer.json)
  })

  test('GET lists them with cursor and total, filters in lower case', async () => {
    const [one] = [writePost({ copy: 'one' }), writePost({ copy: 'two' })]
    const answer = await ask('GET', `/posts?threadId=${threadId}&status=draft&platform=x&first=1&after=c`)
    expect(answer.json).toMatchObject({ posts: [{ id: one!.id, status: 'draft' }], nextCursor: 'cursor-1', totalCount: 2 })
    expect(calls[0]).toEqual({ threadId, status: 'DRAFT', platform: 'X', first: 1, after: 'c' })
    posts.delete([...posts.keys()][1]!)
    expect((await ask('GET', '/posts')).json.nextCursor).toBe(null)
    expect(calls[1]).toEqual({ first: 20 })
  })

  test('the service’s own host answers the same without the prefix', async () => {
    writePost({})
    const answer = await platform.ask('/api/posts', { headers: { ...member, host: `publishing.localhost:${platform.port}` } })
    expect(answer.text).toBe((await ask('GET', '/posts')).text)
  })

  test('PUT changes only the given fields; an explicit null clears the time', async () => {
    const post = writePost({ copy: 'keep', scheduledAt: '2027-05-01T00:00:00.000Z' })
    const answer = await ask('PUT', `/posts/${post.id}`, { scheduledAt: null })
    expect(answer.json).toMatchObject({ copy: 'keep', status: 'draft', scheduledAt: null, version: 2 })
    expect(calls[0]).toEqual({ scheduledAt: null })
    expect(answer.headers.etag).toBe('"2"')
  })

  test('If-Match restricts a change to the version that was read', async () => {
    const post = writePost({})
    expect((await ask('PUT', `/posts/${post.id}`, { copy: 'a' }, { ...member, 'if-match': '"1"' })).status).toBe(200)
    const stale = await ask('PUT', `/posts/${post.id}`, { copy: 'b' }, { ...member, 'if-match': 'W/"1"' })
    expect(stale.json).toMatchObject({ status: 409, code: 'CONFLICT', reason: 'STALE_VERSION', version: 2 })
    expect((await ask('PUT', `/posts/${post.id}`, { copy: 'c' }, { ...member, 'if-match': '*' })).status).toBe(200)
    expect((await ask('PUT', `/posts/${post.id}`, { copy: 'd' }, { ...member, 'if-match': 'abc' })).json).toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
    })
  })

  test('DELETE answers 204 without a body, and then the post is gone', async () => {
    const post = writePost({})
    const answer = await ask('DELETE', `/posts/${post.id}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await ask('DELETE', `/posts/${post.id}`)).json).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await ask('GET', `/posts/${post.id}`)).json).toMatchObject({ status: 404, code: 'NOT_FOUND', requestId: expect.any(String) })
  })
})

test('a nested failure is null in its place, and the rest is answered', async () => {
  const author = () => {
    throw new DomainError('UPSTREAM_FAILED', 'The service "identity" did not answer.')
  }
  const post = writePost({ copy: 'still here', author })
  const answer = await ask('GET', `/posts/${post.id}`)
  expect([answer.status, answer.json]).toMatchObject([200, { copy: 'still here', author: null }])
  expect((await ask('GET', '/posts')).json).toMatchObject({ posts: [{ id: post.id, author: null }], totalCount: 1 })
})

test('reports the error that rejects the whole request, not the missing fields below it', async () => {
  refusedBelow.push(new GraphQLError('Not for you.', { path: ['updatePost', 'author'], extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } }))
  try {
    expect((await ask('PUT', `/posts/${newId()}`, { copy: 'x' })).json).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await ask('PUT', `/posts/${writePost({}).id}`, { copy: 'x' })).status).toBe(200)
  } finally {
    refusedBelow.length = 0
  }
})

test('a client that leaves before its answer aborts the work for it', async () => {
  const url = { host: '127.0.0.1', port: platform.port, path: `/publishing/api/posts?brandId=${slowBrandId}`, headers: member }
  const client = httpRequest(url).on('error', () => undefined)
  client.end()
  const { signal, go } = await waiting.promise
  expect(signal.aborted).toBe(false)
  const aborted = new Promise(resolve => signal.addEventListener('abort', resolve))
  client.destroy()
  await aborted
  go()
})

describe('callers', () => {
  test('without credentials get 401, without the scope 403, and nothing is done', async () => {
    const post = writePost({})
    for (const [method, path, body] of [
      ['GET', '/posts', undefined],
      ['GET', `/posts/${post.id}`, undefined],
      ['POST', '/posts', { brandId, platform: 'x', copy: '' }],
      ['PUT', `/posts/${post.id}`, { copy: '' }],
      ['DELETE', `/posts/${post.id}`, undefined],
      ['GET', '/widget', undefined],
      ['POST', '/integrations/x/connect', { brandId }],
    ] as const) {
      expect((await ask(method, path, body, {})).json, `${method} ${path}`).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
      if (path.startsWith('/posts') && method === 'GET') continue
      expect((await ask(method, path, body, { 'x-api-key': 'reader' })).json, `${method} ${path}`).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    }
    expect([calls, posts.size]).toEqual([[], 1])
  })

  test('with a key can read and write posts by the scopes of posts alone', async () => {
    const post = writePost({})
    expect((await ask('GET', `/posts/${post.id}`, undefined, { 'x-api-key': 'reader' })).status).toBe(200)
    expect((await ask('POST', '/posts', { brandId, platform: 'x', copy: 'by key' }, { 'x-api-key': 'writer' })).status).toBe(201)
    expect((await ask('PUT', `/posts/${post.id}`, { copy: 'by key' }, { 'x-api-key': 'writer' })).status).toBe(200)
  })

  test('with wrong credentials get 401, and a stale cookie is deleted', async () => {
    expect((await ask('GET', '/posts', undefined, { authorization: 'Bearer nonsense' })).json).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
    const stale = await ask('GET', '/posts', undefined, { cookie: 'session=gone' })
    expect([stale.status, stale.headers['set-cookie']?.length, stale.headers['www-authenticate']]).toEqual([401, 2, 'Bearer'])
  })
})

describe('invalid input has a clear answer, and nothing is stored', () => {
  const good = { brandId, platform: 'x', copy: 'Hello' }
  test.each([
    ['a number as copy', { ...good, copy: 7 }, 400, 'copy'],
    ['an unknown network', { ...good, platform: 'myspace' }, 400, 'myspace'],
    ['an unknown field', { ...good, colour: 'red' }, 400, 'colour'],
    ['a missing field', { brandId, platform: 'x' }, 400, 'copy'],
    ['a list', [], 400, 'object'],
    ['text', '"hello"', 400, 'object'],
    ['null', 'null', 400, 'object'],
    ['nothing', '', 400, 'missing'],
    ['broken JSON', '{"copy":', 400, 'JSON'],
    ['an id within the body of another shape', { ...good, brandId: { id: 1 } }, 400, 'brandId'],
  ])('a body with %s', async (_what, body, status, word) => {
    const answer = await ask('POST', '/posts', body)
    expect(answer.json).toMatchObject({ status, code: 'BAD_USER_INPUT', detail: expect.stringContaining(word) })
    expect([answer.headers['content-type'], calls]).toEqual([expect.stringMatching(/^application\/problem\+json/), []])
  })

  test('no body at all, another content type, too many bytes, an unknown parameter', async () => {
    const post = writePost({})
    expect((await platform.ask('/publishing/api/posts', { method: 'POST', headers: member })).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' })
    expect((await ask('PUT', `/posts/${post.id}`, 'copy=x', { ...member, 'content-type': 'application/x-www-form-urlencoded' })).json).toMatchObject({
      status: 415,
      code: 'BAD_USER_INPUT',
    })
    expect((await ask('POST', '/posts', { ...good, copy: 'x'.repeat(5e6) })).json).toMatchObject({ status: 413, code: 'BAD_USER_INPUT' })
    expect((await ask('GET', '/posts?colour=red')).json).toMatchObject({ status: 400, field: 'colour' })
    expect((await ask('GET', '/posts?first=many')).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' })
    expect((await ask('GET', '/posts?status=odd')).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' })
    expect(calls).toEqual([])
  })

  test('rejects an endlessly nested body like any other, with a short message', async () => {
    const body = `{"brandId":"${brandId}","platform":"x","copy":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const answer = await ask('POST', '/posts', body)
    expect(answer.json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', limit: 'variables', most: 100 })
    const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, 1]))
    expect((await ask('POST', '/posts', { ...good, copy: wide })).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', limit: 'members', most: 1000 })
    expect((await ask('POST', '/posts', { ...good, platform: 'x'.repeat(500_000) })).text.length).toBeLessThan(3000)
    expect(calls).toEqual([])
  })

  test('a known path with another method is 405 with the allowed ones', async () => {
    const answer = await ask('PATCH', `/posts/${newId()}`, {})
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, PUT, DELETE, OPTIONS'])
    for (const size of [10, 5e6]) expect((await ask('PATCH', `/posts/${newId()}`, 'x'.repeat(size))).status, `${size} bytes`).toBe(405)
  })
})

test('POST …/connect answers the address for the consent, for supported networks', async () => {
  const answer = await ask('POST', '/integrations/x/connect', { brandId })
  expect([answer.status, answer.json]).toEqual([200, { authorizationUrl: 'https://network.example/authorize?state=s' }])
  await ask('POST', '/integrations/linkedin-page/connect', { brandId })
  expect(calls).toEqual([
    { brandId, platform: 'X' },
    { brandId, platform: 'LINKEDIN_PAGE' },
  ])
  expect((await ask('POST', '/integrations/myspace/connect', { brandId })).json).toMatchObject({ status: 404, code: 'NOT_FOUND' })
})

test('GET /api/widget answers the graph’s widget', async () => {
  expect((await ask('GET', '/widget')).json).toEqual({ statistics: [{ key: 'failed', label: 'Failed', value: 2 }], items: [], nextAction: null, chart: null })
})

test('forwards callbacks and credentials without authentication by the router', async () => {
  const wrong = { authorization: 'Bearer nonsense' }
  expect((await platform.ask('/publishing/api/integrations/x/callback?code=1&state=2', { headers: wrong })).text).toBe(
    'publishing GET /publishing/api/integrations/x/callback',
  )
  expect((await platform.ask('/identity/api/auth/sign-in/email', { method: 'POST', headers: wrong, body: '{}' })).text).toBe(
    'identity POST /identity/api/auth/sign-in/email',
  )
})
