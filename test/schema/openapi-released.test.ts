import { describe, expect, test } from 'vitest'
import { contractText } from '../../router/openapi/contract.ts'
import { describePlatform } from '../../router/openapi/platform.ts'
import { breaksOf, brokenRoutes } from '../../schema/released/routes.ts'
import { project } from './project.ts'

const platform = contractText(describePlatform().document)
const base = {
  paths: {
    '/things': {
      get: {
        operationId: 'things',
        security: [{ bearer: ['a:read'] }, { cookie: ['a:read'] }],
        parameters: [{ name: 'first', in: 'query', schema: { type: 'integer' } }],
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
      },
      post: {
        operationId: 'makeThing',
        security: [{ bearer: ['a:write'] }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } },
        responses: { 201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } },
      },
    },
  },
  components: {
    schemas: {
      Kind: { type: 'string', enum: ['round', 'square'] },
      Thing: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          kind: { $ref: '#/components/schemas/Kind' },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        },
        required: ['id', 'kind'],
      },
      Body: { type: 'object', properties: { kind: { $ref: '#/components/schemas/Kind' }, note: { type: ['string', 'null'] } }, required: ['kind'] },
    },
  },
}
// biome-ignore lint/suspicious/noExplicitAny: each row changes the document where it likes
type Change = (document: any) => void
const changed = (change: Change) => {
  const document = structuredClone(base)
  change(document)
  return breaksOf(base, document)
}
// biome-ignore lint/suspicious/noExplicitAny: as above
const thing = ({ components }: any) => components.schemas.Thing

describe('P-05 a client of the released REST document is broken by', () => {
  test.each<[string, Change, string]>([
    ['a route that is gone', ({ paths }) => delete paths['/things'].get, 'GET /things is gone'],
    ['a route under another name', ({ paths }) => (paths['/things'].get.operationId = 'all'), 'GET /things: generated clients call it things, and now all'],
    ['a scope more', ({ paths }) => paths['/things'].get.security[0].bearer.push('a:admin'), 'GET /things: who had {"bearer":["a:read"]} is refused'],
    ['a kind of credential less', ({ paths }) => paths['/things'].get.security.pop(), 'GET /things: who had {"cookie":["a:read"]} is refused'],
    ['a parameter less', ({ paths }) => paths['/things'].get.parameters.pop(), 'GET /things: the parameter query first is refused'],
    [
      'a parameter of another type',
      ({ paths }) => (paths['/things'].get.parameters[0].schema.type = 'boolean'),
      'GET /things: query first is not taken as integer',
    ],
    [
      'a parameter that must be there',
      ({ paths }) => paths['/things'].get.parameters.push({ name: 'kind', in: 'query', required: true, schema: {} }),
      'GET /things: the parameter query kind must be there',
    ],
    ['a field of an answer less', document => delete thing(document).properties.id, 'GET /things: the answer.id is not answered any more'],
    ['a field that may be null', document => (thing(document).properties.id.type = ['string', 'null']), 'GET /things: the answer.id is answered as null'],
    ['a field that may be missing', document => thing(document).required.pop(), 'GET /things: the answer.kind may be missing'],
    ['a field of another type', document => (thing(document).properties.id.type = 'integer'), 'GET /things: the answer.id is answered as integer'],
    ['another success', ({ paths }) => (paths['/things'].post.responses = { 200: {} }), 'POST /things: it does not answer 201 any more'],
    ['an input more that must be there', ({ components }) => components.schemas.Body.required.push('note'), 'POST /things: the body.note must be there'],
    ['an input less', ({ components }) => delete components.schemas.Body.properties.note, 'POST /things: the body.note is refused'],
    ['null refused', ({ components }) => (components.schemas.Body.properties.note.type = 'string'), 'POST /things: the body.note is not taken as null'],
    ['a value that is not taken', ({ components }) => components.schemas.Kind.enum.pop(), 'POST /things: the body.kind does not take square any more'],
  ])('%s', (_what, change, sentence) => {
    expect(changed(change)).toContain(sentence)
  })
})

test.each<[string, Change]>([
  ['nothing', () => undefined],
  ['a route more', ({ paths }) => (paths['/others'] = structuredClone(paths['/things']))],
  ['a field of an answer more', document => Object.assign(thing(document).properties, { more: { type: 'string' } })],
  ['a parameter that may be left out', ({ paths }) => paths['/things'].get.parameters.push({ name: 'kind', in: 'query', schema: {} })],
  ['a scope less', ({ paths }) => (paths['/things'].get.security = [{ bearer: [] }, { cookie: [] }])],
  ['nobody asked who they are', ({ paths }) => (paths['/things'].get.security = [])],
  ['an input that may be null', ({ components }) => (components.schemas.Body.properties.note.type = ['string', 'null', 'integer'])],
  ['a value more', ({ components }) => components.schemas.Kind.enum.push('oval')],
])('no client is broken by %s', (_what, change) => {
  expect(changed(change)).toEqual([])
})

test('reports a change of the platform’s document against the released one, and nothing without a change', async () => {
  const without = JSON.parse(platform)
  delete without.paths['/publishing/api/widget']
  await using broken = await project({ 'schema/routes.released.json': platform, 'schema/routes.json': JSON.stringify(without) })
  expect(await brokenRoutes(broken.root)).toMatchObject([{ code: 'BREAKING_CHANGE', text: 'GET /publishing/api/widget is gone' }])
  await using same = await project({ 'schema/routes.released.json': platform, 'schema/routes.json': platform })
  expect(await brokenRoutes(same.root)).toEqual([])
  await using none = await project({ 'schema/routes.json': platform })
  expect(await brokenRoutes(none.root)).toMatchObject([{ code: 'NOTHING_RELEASED' }])
  await using routeless = await project({})
  expect(await brokenRoutes(routeless.root)).toEqual([])
})
