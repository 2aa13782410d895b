import { randomBytes } from 'node:crypto'
import { isIntrospectionType, isObjectType } from 'graphql'
import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
const left: string[] = []
/** How many operations came as far as the engine. */
let executed = 0
beforeAll(async () => {
  const engine = schemaEngine(smallGraph(undefined, left))
  platform = await openRouter({
    ...engine,
    execute(request) {
      executed += 1
      return engine.execute(request)
    },
  })
})
afterAll(() => platform.close())

const strict = { accept: 'application/graphql-response+json' }
/** So many different fields of a viewer. */
const wide = (count: number) => Array.from({ length: count }, (_, n) => `f${n}: kind`).join(' ')
const everyFragment = (count: number) => Array.from({ length: count }, (_, n) => `...A${n}`).join(' ')
const codes = (answer: { json: { errors?: { extensions: { code: string } }[] } }) => answer.json.errors?.map(error => error.extensions.code)

test('GraphQL over HTTP passes every audit of graphql-http', async () => {
  const wrong: string[] = []
  const audits = serverAudits({ url: `${platform.url}/graphql`, fetchFn: fetch })
  for (const audit of audits) {
    const result = await audit.fn()
    if (result.status !== 'ok') wrong.push(`${result.id} ${result.name}: ${result.reason}`)
    if ('response' in result) await result.response.body?.cancel()
  }
  expect(wrong).toEqual([])
  expect(audits.length).toBe(61)
})

describe('HTTP statuses of GraphQL', () => {
  test('an executed operation is 200, also with a rejected field and its code', async () => {
    const answer = await platform.gql('{ hello refuse }', strict)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      data: { hello: 'Hello world', refuse: null },
      errors: [expect.objectContaining({ message: 'Somebody was faster: read it again.', path: ['refuse'], extensions: { code: 'CONFLICT', version: 3 } })],
    })
  })

  test.each([
    ['a syntax error', '{ hello', undefined, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nope }', undefined, 'GRAPHQL_VALIDATION_FAILED'],
    ['a variable of the wrong type', 'query($name: String) { hello(name: $name) }', { name: 7 }, 'BAD_USER_INPUT'],
  ])('%s is 200 for application/json and 400 for application/graphql-response+json', async (_what, query, variables, code) => {
    const [plain, response] = [await platform.gql(query, { accept: 'application/json' }, variables), await platform.gql(query, strict, variables)]
    expect([plain.status, response.status]).toEqual([200, 400])
    for (const answer of [plain, response]) {
      expect(answer.json).not.toHaveProperty('data')
      expect(codes(answer)).toEqual([code])
    }
    expect(response.headers['content-type']).toMatch(/^application\/graphql-response\+json/)
  })

  test.each([
    ['a name that none has', { query: '{ hello }', operationName: 'nope' }, 'no operation named "nope"'],
    ['an empty name', { query: 'query A { hello }', operationName: '' }, 'no operation named ""'],
    ['several operations and no name', { query: 'query A { hello } query B { hello }' }, 'has 2 operations'],
    ['no operation at all', { query: 'fragment F on Viewer { kind }' }, 'never used'],
  ])('an operation that cannot be told by %s is 200 for application/json and 400 for application/graphql-response+json', async (_what, body, sentence) => {
    const ask = (accept: string) =>
      platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: JSON.stringify(body) })
    const [plain, response] = [await ask('application/json'), await ask(strict.accept)]
    expect([plain.status, response.status]).toEqual([200, 400])
    for (const answer of [plain, response]) {
      expect(answer.json).not.toHaveProperty('data')
      expect(codes(answer)![0]).toMatch(/OPERATION_RESOLUTION_FAILURE|GRAPHQL_VALIDATION_FAILED/)
      expect(answer.json.errors[0].message).toContain(sentence)
      expect(answer.json.errors[0].extensions).not.toHaveProperty('http')
    }
    const byGet = `/graphql?${new URLSearchParams(body as Record<string, string>)}`
    expect((await platform.ask(byGet, { headers: { accept: 'application/json' } })).status).toBe(200)
  })

  test.each([
    ['broken JSON', '{"query":', 'application/json', 400],
    ['no query', '{}', 'application/json', 400],
    ['a list', '[]', 'application/json', 400],
    ['text', '{ hello }', 'text/plain', 415],
    ['a form', 'query={hello}', 'application/x-www-form-urlencoded', 415],
  ])('a body with %s is refused in the words of GraphQL', async (_what, body, type, status) => {
    const answer = await platform.ask('/graphql', { method: 'POST', headers: { 'content-type': type }, body })
    expect(answer.status).toBe(status)
    expect(answer.json.errors[0].message).toBeTypeOf('string')
  })

  test('a mutation by GET is 405, a query is answered', async () => {
    expect((await platform.ask(`/graphql?query=${encodeURIComponent('mutation { rename(name: "x") }')}`)).status).toBe(405)
    const answer = await platform.ask(
      `/graphql?query=${encodeURIComponent('query($n: String) { hello(name: $n) }')}&variables=${encodeURIComponent('{"n":"you"}')}`,
    )
    expect(answer.json).toEqual({ data: { hello: 'Hello you' } })
    expect((await platform.ask('/graphql', { method: 'DELETE' })).status).toBe(405)
  })
})

test.each(['staging', 'production'] as const)('S-11 in %s an accident is told without its text, and logged with the request id', async environment => {
  await using platform = await openRouter(schemaEngine(smallGraph()), { environment })
  const answer = await platform.gql('{ hello crash }', { 'x-request-id': 'find-me-12345' })
  expect(answer.json.data).toEqual({ hello: 'Hello world', crash: null })
  expect(codes(answer)).toEqual(['INTERNAL_SERVER_ERROR'])
  expect(answer.text).not.toContain('ECONNREFUSED')
  expect(answer.text).not.toContain('stack')
  expect(answer.text).toContain('find-me-12345')
  expect(answer.headers['x-request-id']).toBe('find-me-12345')
  expect(platform.lines.some(line => line.includes('find-me-12345') && line.includes('ECONNREFUSED'))).toBe(true)
})

test('S-11 in development an internal error is answered with its text, never with its stack', async () => {
  const { json, text } = await platform.gql('{ hello crash }', { 'x-request-id': 'find-me-12345' })
  expect(json.data).toEqual({ hello: 'Hello world', crash: null })
  expect(json.errors).toMatchObject([
    { message: expect.stringContaining('connect ECONNREFUSED'), path: ['crash'], extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'find-me-12345' } },
  ])
  expect(text).not.toMatch(/stack|\.ts/)
})

test('S-11 an internal error is logged once, also where Apollo Server answers', async () => {
  const query = encodeURIComponent('{ hello crash }')
  await platform.ask(`/graphql?query=${query}`, { headers: { 'x-request-id': 'find-me-once', 'content-type': 'application/json' } })
  const accidents = platform.lines.map(line => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === 'operation failed')
  expect(accidents.filter(({ requestId }) => requestId === 'find-me-once')).toHaveLength(1)
})

test('replaces an invalid request id', async () => {
  for (const id of ['short', 'a'.repeat(65), 'quote"quote"quote'])
    expect((await platform.gql('{ hello }', { 'x-request-id': id })).headers['x-request-id']).not.toBe(id)
})

describe('large bodies', () => {
  test('of 5 MB are read to their end and answered 413, on GraphQL and elsewhere', async () => {
    const body = JSON.stringify({ query: '{ hello }', variables: { x: 'x'.repeat(5e6) } })
    for (let round = 0; round < 3; round += 1) {
      const answer = await fetch(`${platform.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect(answer.status).toBe(413)
      expect((await answer.json()) as unknown).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] })
    }
  })

  test('of exactly the limit are read', async () => {
    const frame = JSON.stringify({ query: '{ hello }', variables: { x: '' } })
    const body = JSON.stringify({ query: '{ hello }', variables: { x: 'x'.repeat(1024 * 1024 - frame.length) } })
    const answer = await platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(answer.status).toBe(200)
  })
})

describe('CSRF: a request that browsers send across origins without a preflight', () => {
  const path = `/graphql?query=${encodeURIComponent('{ hello }')}`
  test('is answered when it carries no cookie and no browser header', async () => {
    expect((await platform.ask(path)).status).toBe(200)
    expect((await platform.ask(path, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200)
    expect((await platform.ask(path, { headers: { origin: platform.origin } })).status).toBe(200)
  })

  test.each([
    ['a cookie', { cookie: 'session=one' }],
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site' }],
    ['a cookie from another page of the site', { cookie: 'session=one', 'sec-fetch-site': 'same-site' }],
    ['a foreign origin that claims to be ours', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
  ])('is refused with %s, unless a header says that the browser asked first', async (_what, headers: Record<string, string>) => {
    const answer = await platform.ask(path, { headers })
    expect([answer.status, codes(answer)]).toEqual([400, ['BAD_USER_INPUT']])
    if (!headers.cookie) expect((await platform.ask(path, { headers: { ...headers, 'apollo-require-preflight': '1' } })).status).toBe(200)
  })

  test('is answered with a cookie when the browser reports our own origin', async () => {
    const own = { 'sec-fetch-site': 'same-origin' }
    const trusted = { origin: platform.origin, 'sec-fetch-site': 'same-site' }
    for (const page of [own, trusted]) expect((await platform.ask(path, { headers: { ...page, cookie: 'theme=dark' } })).status).toBe(200)
  })
})

describe('S-10 limits', () => {
  test.each([
    ['depth', `{ viewer { ${'again { '.repeat(25)} kind ${'}'.repeat(25)} } }`],
    [
      'depth',
      `{ viewer { ...A } } ${Array.from({ length: 22 }, (_, n) => `fragment ${String.fromCharCode(65 + n)} on Viewer { again { ...${String.fromCharCode(66 + n)} } }`).join(' ')} fragment W on Viewer { kind }`,
    ],
    ['aliases', `{ ${Array.from({ length: 101 }, (_, n) => `a${n}: hello`).join(' ')} }`],
    ['fields', `{ ${'hello '.repeat(1001)} }`],
    [
      'fields',
      Array.from({ length: 101 }, (_, n) => `query Q${n} { viewer { ...A } }`)
        .join(' ')
        .concat(` fragment A on Viewer { ${wide(8)} }`),
    ],
    ['fields', `{ viewer { ...A0 } } ${Array.from({ length: 30 }, (_, n) => `fragment A${n} on Viewer { ${everyFragment(30)} }`).join(' ')}`],
    ['repeats', `{ ${'viewer { kind } '.repeat(490)} }`],
    ['repeats', `{ ${'viewer { again { kind } } '.repeat(51)} }`],
    ['repeats', `{ viewer { ...A } } fragment A on Viewer { ${'kind '.repeat(30)} ... on Viewer { ${'kind '.repeat(21)} } }`],
    ['fragments', `{ viewer { ...F0 } } ${Array.from({ length: 51 }, (_, n) => `fragment F${n} on Viewer { kind ...F${n + 1} }`).join(' ')}`],
    [
      'fields',
      `{ viewer { ...A } } ${Array.from({ length: 12 }, (_, n) => `fragment ${String.fromCharCode(65 + n)} on Viewer { ...${String.fromCharCode(66 + n)} ...${String.fromCharCode(66 + n)} }`).join(' ')} fragment M on Viewer { kind }`,
    ],
    ['tokens', `{ ${'hello '.repeat(5001)} }`],
  ])('%s: refused with a sentence before anything runs', async (limit, query) => {
    const before = executed
    const answer = await platform.gql(query)
    expect(answer.json.errors).toMatchObject([{ message: expect.stringMatching(/: .+\.$/), extensions: { code: 'BAD_USER_INPUT', limit } }])
    expect(executed).toBe(before)
  })

  test('reports unclosed brackets as a syntax error, and deep nesting as too many tokens, never as an internal error', async () => {
    expect(codes(await platform.gql(`{ hello(name: ${'['.repeat(500)}`))).toEqual(['GRAPHQL_PARSE_FAILED'])
    const documents = createDocuments(smallGraph(), { introspection: true })
    /** Reads it with so little stack left that the parser must run out of it. */
    const cramped = (text: string): ReturnType<typeof documents.read> => {
      try {
        return cramped(text)
      } catch {
        return documents.read(text)
      }
    }
    expect(cramped(`{ hello(name: ${'['.repeat(4000)}`)).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', limit: 'tokens' } }] })
  })

  test.each([
    ['one field as often as it may be', `{ ${'hello '.repeat(50)} }`],
    ['the deepest tree as often as it may be', `{ ${`viewer { ${'again { '.repeat(16)} kind ${'} '.repeat(16)} } `.repeat(50)} }`],
    ['as many fields as there may be', `{ ${Array.from({ length: 100 }, (_, n) => `a${n}: viewer { kind userId again { kind userId } }`).join(' ')} }`],
    [
      'a chain of as many fragments as there may be',
      `{ viewer { ...F0 } } ${Array.from({ length: 50 }, (_, n) => `fragment F${n} on Viewer { kind ${n < 49 ? `...F${n + 1}` : ''} }`).join(' ')}`,
    ],
  ])('the worst documents within them are little work to validate: %s', (_what, query) => {
    const schema = smallGraph()
    // Every two selections of one response key are compared by the types of their fields: how often these are read is the work.
    let reads = 0
    // Introspection types are shared by all schemas of the process.
    for (const type of Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter(type => !isIntrospectionType(type)))
      for (const field of Object.values(type.getFields())) {
        const { type: declared } = field
        Object.defineProperty(field, 'type', {
          get() {
            reads += 1
            return declared
          },
        })
      }
    expect(createDocuments(schema, { introspection: true }).read(query)).toHaveProperty('document')
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(100_000)
  })

  test('remembers a rejected document by its text: the same mistake again costs nothing', () => {
    const documents = createDocuments(smallGraph(), { introspection: true })
    const refused = (text: string) => {
      const read = documents.read(text)
      return 'errors' in read ? read.errors : []
    }
    const first = refused('{ nope }')
    expect(first).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' }, locations: [{ line: 1, column: 3 }] }])
    expect(refused('{ nope }')).toBe(first)
    expect(refused('{ nope  }')).not.toBe(first)
    for (let n = 0; n < 1000; n += 1) refused(`{ nope${n} }`)
    expect(refused('{ nope }')).not.toBe(first)
  })

  test('cuts a message that repeats a long name', async () => {
    const answer = await platform.gql(`{ ${'n'.repeat(100_000)} }`)
    expect(answer.text.length).toBeLessThan(1000)
  })
})

test('S-10 in production neither introspection nor suggestions reveal the schema, and errors stay short', async () => {
  await using production = await openRouter(schemaEngine(smallGraph()), { environment: 'production' })
  expect(codes(await production.gql('{ __schema { types { name } } }'))).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
  expect((await production.gql('{ helo }')).text).not.toContain('hello')
  expect((await platform.gql('{ helo }')).text).toContain('Did you mean')
  expect((await production.gql('{ hello __typename }')).json.data).toEqual({ hello: 'Hello world', __typename: 'Query' })
})

test('S-06 a browser gets Apollo Sandbox with its own content-security policy, without telemetry, and instructions for subscriptions', async () => {
  const answer = await platform.ask('/graphql', {
    headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', cookie: 'session=stale' },
  })
  expect(answer.status).toBe(200)
  expect(answer.text).toContain('embeddable-sandbox.cdn.apollographql.com')
  expect(answer.text).toContain('runTelemetry: false')
  expect(answer.text).toContain(`ws://localhost:${platform.port}/graphql`)
  expect(answer.text).toMatch(/choose <code>graphql-ws<\/code>/)
  expect(answer.headers['content-security-policy']).toContain('frame-src https://*.embed.apollographql.com')
  expect(answer.headers['cross-origin-embedder-policy']).toBeUndefined()
  expect((await platform.ask('/health/live')).headers['content-security-policy']).not.toContain('apollographql')
})

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test('in production no page loads programs from other origins', async () => {
  await using production = await openRouter(schemaEngine(smallGraph()), { environment: 'production' })
  const page = await production.ask('/graphql', { headers: { accept: browserAccept } })
  expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
  expect(page.text).not.toContain('apollographql')
})

test('an unknown page is answered as HTML to a browser and as a problem document to other clients', async () => {
  const page = await platform.ask('/no/such/page&more', { headers: { accept: browserAccept } })
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.text).toContain('There is nothing at GET /no/such/')
  expect(page.text).toContain('page&amp;more')
  for (const path of ['/api/none', '/payments/api/none'])
    expect((await platform.ask(path, { headers: { accept: browserAccept } })).headers['content-type']).toBe('application/problem+json; charset=utf-8')
  for (const [method, accept] of [
    ['GET', 'application/json'],
    ['GET', '*/*'],
    ['DELETE', browserAccept],
  ] as const)
    expect((await platform.ask('/no/such/page', { method, headers: { accept } })).headers['content-type']).toBe('application/problem+json; charset=utf-8')
})

test('answers /graphql/ like /graphql', async () => {
  const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: '{ hello }' }) }
  const [plain, slashed] = await Promise.all(['/graphql', '/graphql/'].map(path => platform.ask(path, asked)))
  expect([slashed!.status, slashed!.json]).toEqual([200, plain!.json])
  expect((await platform.ask('/graphql/', { method: 'PUT' })).json.errors[0].message).toMatch(/POST/)
})

test('/ lists all addresses, as a page for browsers and as JSON for programs', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const page = await platform.ask('/', { headers: { accept, cookie: 'session=stale' } })
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  const places = [...page.text.matchAll(/<a href="([^"]+)">/g)].map(([, address]) => address!)
  const bar = ['/explorer', '/docs/graph', '/docs']
  expect(places).toEqual([...bar, '/graphql', ...bar, '/openapi.json', '/identity/login', '/health/ready', '/metrics'])
  expect(page.text).toContain('Apollo Sandbox')
  for (const other of [undefined, '*/*', 'application/json', 'application/json, text/html'])
    expect([other, (await platform.ask('/', { headers: other ? { accept: other } : {} })).json]).toEqual([
      other,
      { places: expect.arrayContaining([{ name: 'GraphQL', address: '/graphql', what: expect.stringContaining('Apollo Sandbox') }]) },
    ])
  expect((await platform.ask('/', { method: 'POST', headers: { accept }, body: '' })).status).toBe(404)
  await using production = await openRouter(schemaEngine(smallGraph()), { environment: 'production' })
  expect((await production.ask('/', { headers: { accept } })).text).not.toContain('Sandbox')
  await using demo = await openRouter(schemaEngine(smallGraph()), { sandbox: 'http://localhost:4100' })
  expect((await demo.ask('/', { headers: { accept } })).text).toContain('<a href="http://localhost:4100">Sandbox</a>')
})

test('sends isolation headers where browsers honour them: over TLS, and on this machine', async () => {
  const apart = async (at: typeof platform, host: string, headers: Record<string, string> = {}) => {
    const { headers: answered } = await at.ask('/graphql', { headers: { accept: 'text/html', host, ...headers } })
    return [answered['cross-origin-opener-policy'], answered['origin-agent-cluster']]
  }
  const [yes, no] = [
    ['same-origin', '?1'],
    [undefined, undefined],
  ]
  for (const host of [`localhost:${platform.port}`, '127.0.0.1', `[::1]:${platform.port}`, 'publishing.localhost'])
    expect([host, await apart(platform, host)]).toEqual([host, yes])
  for (const host of ['192.0.2.7:4000', 'platform.example', 'localhost.example', '127.0.0.1.example'])
    expect([host, await apart(platform, host)]).toEqual([host, no])
  await using behind = await openRouter(schemaEngine(smallGraph()), { trustProxy: true })
  expect(await apart(behind, 'platform.example', { 'x-forwarded-proto': 'https' })).toEqual(yes)
  await using secure = await openRouter(schemaEngine(smallGraph()), { publicUrl: 'https://platform.example' })
  expect(await apart(secure, 'platform.example')).toEqual(yes)
})

test('aborts work when its client leaves, and not before', async () => {
  const leaving = new AbortController()
  const asked = fetch(`${platform.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ hang }"}',
    signal: leaving.signal,
  })
  expect((await platform.gql('{ wait }')).json.data).toEqual({ wait: 'waited' })
  expect(left).toEqual([])
  leaving.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => left).toEqual(['hang'])
})

test('registers a persisted query by its hash and runs it by the hash alone', async () => {
  const { createHash } = await import('node:crypto')
  const query = `query Persisted${randomBytes(4).toString('hex')} { hello }`
  const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } }
  const post = (body: unknown) => platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  expect(codes(await post({ extensions }))).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
  expect((await post({ query, extensions })).json.data.hello).toBe('Hello world')
  expect((await post({ extensions })).json.data.hello).toBe('Hello world')
})

test('rejects a malformed persistedQuery extension with its own message, under the request’s id', async () => {
  const { createHash } = await import('node:crypto')
  const query = `query Persisted${randomBytes(4).toString('hex')} { hello }`
  const sha256Hash = createHash('sha256').update(query).digest('hex')
  for (const [body, code, word] of [
    [{ query, extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } } }, 'BAD_REQUEST', 'SHA-256 of the query'],
    [{ query, extensions: { persistedQuery: { version: 2, sha256Hash } } }, 'BAD_REQUEST', 'version'],
    [{ extensions: { persistedQuery: { version: 1, sha256Hash: 7 } } }, 'BAD_REQUEST', '64 digits'],
    [{ extensions: { persistedQuery: { sha256Hash } } }, 'BAD_REQUEST', 'version'],
    [{ query, extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hash.toUpperCase() } } }, 'BAD_REQUEST', 'small letters'],
    [{ extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hash.toUpperCase() } } }, 'BAD_REQUEST', 'small letters'],
    [{ extensions: { persistedQuery: 'x' } }, 'BAD_REQUEST', 'version'],
    [{ extensions: { persistedQuery: { version: 1, sha256Hash } } }, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'],
  ] as const) {
    const byGet = `/graphql?${new URLSearchParams({ ...('query' in body && { query: body.query }), extensions: JSON.stringify(body.extensions) })}`
    for (const answer of [
      await platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      await platform.ask(byGet),
    ]) {
      expect([answer.status, codes(answer)]).toEqual([code === 'BAD_REQUEST' ? 400 : 200, [code]])
      expect(answer.json.errors[0].message).toContain(word)
      expect(answer.text).not.toContain('"-"')
    }
  }
})

test('rejects an operation of a malformed persisted query like any other', async () => {
  const { createHash } = await import('node:crypto')
  const query = `query Persisted${randomBytes(4).toString('hex')} { hello }`
  const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } }
  const post = (body: unknown) => platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  await post({ query, extensions })
  const answer = await post({ extensions, operationName: 'nope' })
  expect([answer.status, codes(answer)]).toEqual([200, ['OPERATION_RESOLUTION_FAILURE']])
})
