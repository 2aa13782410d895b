import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { buildSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import { localOrigins } from '../../config/hosts.ts'
import { readAccessTable } from '../../router/access/rules.ts'
import { createHosts } from '../../router/hosts.ts'
import { openapiDocument } from '../../router/openapi/document.ts'
import { describePlatform } from '../../router/openapi/platform.ts'
import { serveOpenapi } from '../../router/openapi/serve.ts'
import { type NounRoutes, nounRoutes } from '../../router/rest/derive/route.ts'
import { deriveTables } from '../../router/rest/derive/tables.ts'
import { documentedAnswers, pathOf } from '../../router/rest/row.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { ownSupergraph } from '../../router/start/engine.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is looked at path by path
type Json = any
const platform: Json = describePlatform().document

/** Every operation of a document with its address. */
const operationsOf = (document: Json): { at: string; operation: Json }[] =>
  Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, operation })),
  )

describe('the OpenAPI document of the platform', () => {
  test('is valid OpenAPI 3.1 for an independent validator', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(platform))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
    const broken = structuredClone(platform)
    broken.paths['/publishing/api/posts'].get.parameters[0].in = 'nowhere'
    expect((await validator.validate(broken)).valid).toBe(false)
  })

  test('S-05 has every route of the tables, and nothing else', () => {
    const rows = routeTables.flatMap(({ slug, rows }) =>
      rows.flatMap(row =>
        row.kind === 'forward' && row.path.endsWith('/*')
          ? documentedAnswers(row).map(({ at }) => at!.replace(' ', ` /${slug}${row.path.slice(0, -2)}`))
          : row.kind === 'forward' && documentedAnswers(row).length === 0
            ? []
            : [`${row.method} ${pathOf(slug, row).replaceAll(/:(\w+)/g, '{$1}')}`],
      ),
    )
    expect(
      operationsOf(platform)
        .map(({ at }) => at)
        .sort(),
    ).toEqual(rows.sort())
  })

  test('lists the security and the error answers of each operation', () => {
    expect(platform.openapi).toMatch(/^3\.1\./)
    expect(platform.security).toBeUndefined()
    for (const { at, operation } of operationsOf(platform)) {
      expect(operation.security, at).toBeInstanceOf(Array)
      expect(operation.responses.default, at).toEqual({ $ref: '#/components/responses/Problem' })
      expect(operation.summary, at).toMatch(/^[A-Z].{8}/)
    }
  })

  test('lists every kind of credential for a scope, only people’s where the graph requires a person, and none for public routes', () => {
    const securityOf = (path: string, method: string) => platform.paths[path][method].security
    const scopes = ['publishing:posts.read']
    expect(securityOf('/publishing/api/posts', 'get')).toEqual([
      { bearer: scopes },
      { cookie: scopes },
      { apiKey: scopes },
      { serviceToken: scopes, appId: [] },
    ])
    const person = ['policy:person', 'publishing:accounts.write']
    expect(securityOf('/publishing/api/integrations/{platform}/connect', 'post')).toEqual([{ bearer: person }, { cookie: person }])
    expect(securityOf('/identity/api/auth/sign-in/email', 'post')).toEqual([])
    expect(securityOf('/identity/api/auth/token', 'get')).toEqual([{ cookie: [] }])
  })

  test('describes a record as the route answers it: renamed, in lower case, null where allowed', () => {
    const { properties, required } = platform.components.schemas.Post
    expect(properties.status).toEqual({ $ref: '#/components/schemas/PostStatus' })
    expect(platform.components.schemas.PostStatus.enum).toEqual(['draft', 'failed', 'published', 'scheduled'])
    expect(properties.waitsForId).toMatchObject({ type: ['string', 'null'] })
    expect(properties.waitsFor).toBeUndefined()
    expect(properties.target).toMatchObject({ type: ['object', 'null'], properties: { kind: { $ref: '#/components/schemas/PostTargetKind' } } })
    expect(properties.scheduledAt).toMatchObject({ type: ['string', 'null'], format: 'date-time', description: expect.stringContaining('null for a draft') })
    expect(required).toEqual(Object.keys(properties))
    expect(platform.components.schemas.Posts).toMatchObject({
      properties: {
        posts: { type: 'array', items: { $ref: '#/components/schemas/Post' } },
        nextCursor: { type: ['string', 'null'] },
        totalCount: { type: 'integer' },
      },
      required: ['posts', 'nextCursor', 'totalCount'],
    })
  })

  test('describes a route’s input: parameters, headers, and a closed body', () => {
    const posts = platform.paths['/publishing/api/posts']
    const named = (operation: Json) => operation.parameters.map(({ name, in: place }: Json) => `${place} ${name}`)
    expect(named(posts.get)).toEqual(expect.arrayContaining(['query status', 'query first', 'query after', 'header If-None-Match']))
    expect(named(posts.post)).toEqual(['header Idempotency-Key'])
    expect(named(platform.paths['/publishing/api/posts/{id}'].put)).toEqual(['path id', 'header If-Match'])
    expect(named(platform.paths['/publishing/api/brands/{brandId}'].get)[0]).toBe('path brandId')
    expect(platform.components.schemas.CreatePostBody).toMatchObject({ required: ['brandId', 'copy', 'platform'], additionalProperties: false })
    const headers = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
    expect(posts.post.responses[201].headers).toEqual(headers('ETag', 'Location', 'Idempotent-Replayed'))
    expect(platform.components.headers).toHaveProperty('Idempotent-Replayed')
    // A route without idempotency key has no replay header.
    expect(platform.paths['/publishing/api/posts/{id}'].put.responses[200].headers).not.toHaveProperty('Idempotent-Replayed')
  })

  test('names each path parameter where it is used, once, and no other', () => {
    for (const [path, operations] of Object.entries<Json>(platform.paths))
      for (const [method, { parameters = [] }] of Object.entries<Json>(operations)) {
        const inPath = parameters.filter((each: Json) => each.in === 'path')
        const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        expect([method, path, inPath.map(({ name }: Json) => name).toSorted()]).toEqual([method, path, written.toSorted()])
        expect(inPath.every((each: Json) => each.required === true)).toBe(true)
      }
    expect(platform.paths['/publishing/api/media/uploads/{id}'].patch.parameters[0]).toMatchObject({ name: 'id', in: 'path', description: 'The upload.' })
  })

  test('S-05 matches the real answer of every operation route, with schemas that leave nothing out', () => {
    const closed = JSON.parse(JSON.stringify(platform), (_key, value) =>
      value?.type && [value.type].flat().includes('object') && value.properties ? { additionalProperties: false, ...value } : value,
    )
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(closed, 'platform')
    const fits = (pointer: string, value: unknown) => {
      const check = ajv.compile({ $ref: `platform#${pointer}` })
      return check(value) ? [] : (check.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    }
    const escaped = (path: string) => encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
    const without: string[] = []
    for (const [path, methods] of Object.entries<Json>(platform.paths))
      for (const [method, { requestBody, responses }] of Object.entries<Json>(methods)) {
        const at = `/paths/${escaped(path)}/${method}`
        const sent = requestBody?.content['application/json']?.example
        if (sent !== undefined) expect(fits(`${at}/requestBody/content/application~1json/schema`, sent), `${method} ${path}`).toEqual([])
        const answers = Object.keys(responses).filter(each => /^2/.test(each) && responses[each].content?.['application/json'])
        const told = answers.filter(status => responses[status].content['application/json'].example !== undefined)
        if (answers.length > 0 && told.length === 0) without.push(`${method} ${path}`)
        for (const status of told) {
          const json = responses[status].content['application/json']
          expect(fits(`${at}/responses/${status}/content/application~1json/schema`, json.example), `${method} ${path}`).toEqual([])
        }
      }
    const operations = routeTables.flatMap(({ slug, rows }) =>
      rows.flatMap(row => (row.kind === 'operation' ? [`${row.method.toLowerCase()} /${slug}${row.path.replaceAll(/:(\w+)/g, '{$1}')}`] : [])),
    )
    // An action needs a server of tools, which these exchanges have none of.
    expect(without.filter(each => operations.includes(each))).toEqual(['post /agents/api/actions'])
    for (const name of ['BadUserInput', 'Unauthenticated', 'Forbidden', 'NotFound', 'PreconditionFailed'])
      expect(fits('/components/schemas/Problem', platform.components.responses[name].content['application/problem+json'].example), name).toEqual([])
  })

  test('uses no term of the graph that routes do not use', () => {
    const said = JSON.stringify(platform, (key, value) => (key === 'enum' ? undefined : value))
    for (const word of ['expectedVersion', 'idempotencyKey', 'endCursor', 'LINKEDIN', 'CHANGES_REQUESTED']) expect(said).not.toContain(word)
  })
})

describe('the description of a route', () => {
  const sdl = `type Query { thing(id: ID!, kind: Kind, kinds: [Kind!]): Thing  things: [Thing!] }
    type Mutation { changeThing(input: ChangeInput!): Thing }
    "How it is: SQUARE_ISH at expectedVersion." enum Kind { ROUND "With corners." SQUARE_ISH }
    "A thing." type Thing { id: ID! kind: Kind! open: Boolean! note: String parts: [Part!] "What it was." before: Thing price: Int! }
    type Part { name: String! kind: Kind! }
    input ChangeInput { id: ID! kind: Kind! note: String parts: [PartInput!] }
    input PartInput { name: String! kind: Kind! expectedVersion: Int }`
  const described = (routes: NounRoutes['routes'], names: Record<string, string> = {}) => {
    const select = { Thing: 'is: kind open cost: price note parts { called: name kind } beforeId: before { id }' }
    const { document, mistakes } = openapiDocument({
      tables: [{ slug: 'publishing', rows: nounRoutes({ select, names, routes }) }],
      schema: buildSchema(sdl),
      access: readAccessTable(sdl),
      version: '1',
      examples: {},
    })
    return { mistakes, document: document as Json }
  }

  test('names records by their types, and describes each part with its nullability', () => {
    const { document, mistakes } = described({ 'GET /api/things/:id': 'thing' })
    expect(mistakes).toEqual([])
    const { Thing, Part, Kind } = document.components.schemas
    expect(Thing).toEqual({
      type: 'object',
      description: 'A thing.',
      properties: {
        is: { $ref: '#/components/schemas/Kind' },
        open: { type: 'boolean' },
        cost: { type: 'integer', format: 'int32' },
        note: { type: ['string', 'null'] },
        parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
        beforeId: { type: ['string', 'null'], description: 'What it was.' },
      },
      required: ['is', 'open', 'cost', 'note', 'parts', 'beforeId'],
    })
    expect(Part.properties).toEqual({ called: { type: 'string' }, kind: { $ref: '#/components/schemas/Kind' } })
    expect(Kind.enum).toEqual(['round', 'square_ish'])
    expect(Kind.description).toMatch(/^How it is: square_ish at If-Match\./)
  })

  test('describes lists of a query string as comma-separated', () => {
    const { document } = described({ 'GET /api/things/:id': 'thing' })
    expect(document.paths['/publishing/api/things/{id}'].get.parameters).toContainEqual({
      name: 'kinds',
      in: 'query',
      explode: false,
      schema: { type: 'array', items: { $ref: '#/components/schemas/Kind' } },
    })
  })

  test('has each possible status', () => {
    const { document } = described({ 'POST /api/things/:id': { run: 'changeThing', status: { madeWhen: 'open' } } })
    const { responses } = document.paths['/publishing/api/things/{id}'].post
    expect([responses[201].content, responses[201].description]).toEqual([responses[200].content, 'It is made.'])
  })

  test('is a mistake when the graph does not support the route', () => {
    const { mistakes } = described({ 'GET /api/things/:thingId': 'thing' })
    expect(mistakes).toEqual([
      { at: 'GET /publishing/api/things/:thingId', sentence: 'the parameter thingId is no argument of thing: say in names what it is' },
    ])
  })

  test('describes inputs of a body down to their enums, and the required ones', () => {
    const { document, mistakes } = described({ 'PUT /api/things/:thingId': 'changeThing' }, { id: 'thingId' })
    expect(mistakes).toEqual([])
    expect(document.components.schemas.ChangeThingBody).toMatchObject({
      required: ['kind'],
      properties: {
        note: { type: ['string', 'null'] },
        parts: {
          type: ['array', 'null'],
          items: { properties: { kind: { $ref: '#/components/schemas/Kind' }, version: { type: ['integer', 'null'] } }, required: ['kind', 'name'] },
        },
      },
    })
  })
})

test('S-05 is served whole at /openapi.json, and for a service under its prefix and on its host, with all referenced components', async () => {
  const { default: fastify } = await import('fastify')
  await using app = fastify()
  const publicUrl = 'http://localhost:4000'
  const { schema } = ownSupergraph()
  const { tables } = deriveTables(routeTables, schema)
  serveOpenapi(app, { hosts: createHosts(publicUrl, localOrigins(publicUrl)), publicUrl, tables, schema })
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await app.inject({ url, headers: { host: 'localhost:4000', ...headers } })
    return { status: answer.statusCode, etag: String(answer.headers.etag), document: answer.body === '' ? null : answer.json() }
  }
  const whole = await ask('/openapi.json')
  expect(whole.document).toEqual({ ...platform, servers: [{ url: publicUrl }] })
  const identity = await ask('/identity/openapi.json')
  expect(Object.keys(identity.document.paths).every(path => path.startsWith('/identity/'))).toBe(true)
  expect(identity.document.components.schemas.Post).toBeUndefined()
  const publishing = await ask('/openapi.json', { host: 'publishing.localhost:4000' })
  expect(publishing.document).toEqual((await ask('/publishing/openapi.json')).document)
  for (const { document } of [whole, identity, publishing])
    for (const [, kind, name] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
      expect(document.components[kind!][name!], `${kind} ${name}`).toBeDefined()
  expect((await ask('/openapi.json', { 'if-none-match': whole.etag })).status).toBe(304)
})
