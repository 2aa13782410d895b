import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { buildSchema, isRequiredArgument, parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { localOrigins } from '../../config/hosts.ts'
import { canonicalPath, createHosts } from '../../router/hosts.ts'
import { exampleOf } from '../../router/pages/operation-example.ts'
import { type PagesNeeds, servePages } from '../../router/pages/serve.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { slugs } from '../../subgraphs/scopes.ts'

const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'))
const publicUrl = 'http://localhost:4000'

async function open(needs: Partial<PagesNeeds> = {}) {
  const app = Fastify()
  servePages(app, {
    hosts: createHosts(publicUrl, localOrigins(publicUrl)),
    publicUrl,
    production: false,
    schema,
    tables: routeTables,
    isOurs: true,
    services: [
      { slug: 'identity', title: 'Identity' },
      { slug: 'publishing', title: 'Publishing', ready: () => Promise.reject(new Error('away')) },
    ],
    demo: null,
    sandbox: null,
    foreignIssuer: null,
    look: async () => [{ name: 'database', ready: true }],
    ...needs,
  })
  const get = async (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { accept: 'text/html', host: 'localhost:4000', ...headers } })
  return { get, [Symbol.asyncDispose]: () => app.close() }
}

const rootFields = (['query', 'mutation', 'subscription'] as const).flatMap(kind =>
  Object.values(schema.getRootType(kind as never)!.getFields()).map(field => ({ kind, field, at: `${kind} ${field.name}` })),
)

test.each(rootFields)('the reference’s example of $at is a valid operation', ({ kind, field }) => {
  const { text, variables } = exampleOf(kind, field)
  expect(validate(schema, parse(text))).toEqual([])
  expect(Object.keys(variables ?? {})).toEqual(field.args.filter(isRequiredArgument).map(({ name }) => name))
})

test.each(slugs)('serves the icon of %s at the registry’s path on every host', async slug => {
  await using pages = await open()
  for (const host of ['localhost:4000', 'publishing.localhost:4000', 'marketing.launcher.localhost:4000']) {
    const answer = await pages.get(`/icons/${slug}.svg`, { host })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8'])
    expect(answer.body).toContain('<svg')
    expect(canonicalPath(createHosts(publicUrl, localOrigins(publicUrl)), host, `/icons/${slug}.svg`)).toBe(`/icons/${slug}.svg`)
  }
})

test('an example omits fields with required arguments, deprecated fields, and lists within lists', () => {
  const small = buildSchema(`type Query { shelf(id: ID!, kind: Kind!, first: Int): Shelf } enum Kind { HIGH LOW }
    type Shelf { id: ID! book(isbn: ID!): Book owner: Person old: String @deprecated(reason: "gone") books: [Book!] }
    type Book { isbn: ID! } type Person { name: String! shelf: Shelf }`)
  const { text, variables } = exampleOf('query', small.getQueryType()!.getFields().shelf!)
  expect(text).toBe(
    'query Shelf($id: ID!, $kind: Kind!) {\n  shelf(id: $id, kind: $kind) {\n    id\n    owner {\n      name\n      shelf {\n        id\n      }\n    }\n  }\n}',
  )
  expect(variables).toEqual({ id: expect.stringMatching(/^[\da-f-]{36}$/), kind: 'HIGH' })
  expect(validate(small, parse(text))).toEqual([])
})

describe('the reference of the graph', () => {
  test('describes who may read a field, its arguments and its type, and where a type is used', async () => {
    await using pages = await open()
    const { body: query } = await pages.get('/docs/graph/Query')
    expect(query).toContain('Counts as many as <code>first</code> says in <code>nodes</code>, <code>edges</code>.')
    expect((await pages.get('/docs/graph')).body).toContain('x-graphql-cost: show')
    expect(query).toContain('<code id="posts">posts(')
    expect(query).toContain('Who may: scope <code>publishing:posts.read</code>')
    expect(query).toContain('<a href="/docs/graph/PostConnection">PostConnection</a>')
    expect(query).toMatch(/href="\/explorer\?query=query\+Posts/)
    const { body: post } = await pages.get('/docs/graph/Post')
    expect(post).toContain('<a href="/docs/graph/Mutation#createPost">Mutation.createPost</a>')
    expect((await pages.get('/docs/graph')).body).toContain('href="/docs/graph/Subscription#postStatusChanged"')
  })

  test('has no page for an unknown type', async () => {
    await using pages = await open()
    for (const name of ['Nothing', '__Type', 'constructor', '%3Cscript%3E']) expect((await pages.get(`/docs/graph/${name}`)).statusCode, name).not.toBe(200)
  })

  test('is missing in production, like the explorer, because production does not publish its schema', async () => {
    await using pages = await open({ production: true })
    for (const path of ['/docs/graph', '/docs/graph/Post', '/explorer']) expect((await pages.get(path)).statusCode, path).toBe(404)
    const { body } = await pages.get('/')
    expect(body).not.toMatch(/explorer|docs\/graph/)
    expect((await pages.get('/docs')).statusCode).toBe(200)
  })
})

test('/ names a service that does not work, and shows accounts only where there are demo accounts', async () => {
  await using pages = await open()
  const { body } = await pages.get('/')
  expect(body).toMatch(/Publishing<\/th><td><span class="bad">not ready/)
  expect(body).toMatch(/Identity<\/th><td><span class="good">ready/)
  expect(body).not.toContain('Demo accounts')
  await using demo = await open({ demo: { accounts: ['owner@demo.test'], password: 'known <to all>' } })
  expect((await demo.get('/')).body).toContain('known &lt;to all&gt;')
  const told = JSON.parse((await demo.get('/', { accept: 'application/json' })).body)
  expect(Object.keys(told)).toEqual(['places'])
})

test('/ greets the signed-in person, escaped, and shows everything else when identity is unavailable', async () => {
  const page = async (signedIn: PagesNeeds['signedIn']) => {
    await using pages = await open({ signedIn })
    return (await pages.get('/')).body
  }
  expect(await page(async () => ({ name: 'Ada <i>', organization: 'A & B' }))).toContain('Signed in as <strong>Ada &lt;i&gt;</strong>, in A &amp; B.')
  expect(await page(async () => ({ name: 'Ada', organization: null }))).toContain('Signed in as <strong>Ada</strong>.')
  for (const nobody of [async () => null, () => Promise.reject(new Error('identity is away')), undefined]) {
    const body = await page(nobody)
    expect(body).not.toContain('Signed in as')
    expect(body).toContain('<h2>Services</h2>')
  }
})

test('no page contains an inline script or style: all are files of this host', async () => {
  await using pages = await open()
  for (const path of ['/', '/docs', '/docs/graph', '/explorer']) {
    const { body, headers } = await pages.get(path)
    expect(headers['content-security-policy'], path).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(body, path).not.toMatch(/<script>|<style>|\son\w+=|style="/)
    for (const [, address] of body.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]+)"/g)) {
      if (address!.startsWith('data:')) continue
      const file = await pages.get(address!, { 'accept-encoding': 'gzip, br' })
      expect([file.statusCode, file.headers['content-encoding']], address).toEqual([200, 'gzip'])
      expect(gunzipSync(file.rawPayload).toString()).toBe((await pages.get(address!)).body)
      expect((await pages.get(address!, { 'if-none-match': String(file.headers.etag) })).statusCode).toBe(304)
    }
  }
})

test('a service’s own host serves the service’s part of the reference', async () => {
  await using pages = await open()
  expect((await pages.get('/docs', { host: 'publishing.localhost:4000' })).body).toContain('data-document="/publishing/openapi.json"')
  expect((await pages.get('/docs')).body).toContain('data-document="/openapi.json"')
})
