import { expect, test } from 'vitest'
import { supergraph } from '../kit/supergraph.ts'

const cursor = (...parts: string[]) => Buffer.from(JSON.stringify(['posts.newest', ...parts])).toString('base64url')
const id = '01a1fd88-d416-7530-805a-8d61e2d0a6bf'
const newest = 'query($after: String) { posts(after: $after) { nodes { id } } }'
const create = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'

test.each([
  ['an id that is none', cursor('2026-01-01T00:00:00.000Z', 'nope')],
  ['a year of six digits', cursor('+275760-09-13T00:00:00.000Z', id)],
  ['a year before the common era', cursor('-000001-01-01T00:00:00.000Z', id)],
  ['the year 0', cursor('0000-01-01T00:00:00.000Z', id)],
])('D13 a cursor with %s is BAD_USER_INPUT', async (_what, after) => {
  const graph = await supergraph()
  await using _ = graph
  const { owner } = await graph.seed.owner()
  ;(await graph.execute(newest, { after }, { as: owner })).refused('BAD_USER_INPUT')
})

test.each([
  ['the year 10000 in UTC', { platform: 'X', scheduledAt: '9999-12-31T23:59:59-23:59' }],
  ['the year 0', { platform: 'X', scheduledAt: '0000-01-01T00:00:00Z' }],
  ['a NUL in the target’s name', { platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: '1', name: 'a\u0000b' } }],
  ['a NUL in the target’s id', { platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: 'a\u0000b' } }],
  ['half a surrogate pair in the target’s name', { platform: 'FACEBOOK', target: { kind: 'PAGE', externalId: '1', name: 'a\ud800b' } }],
])('D10 a post with %s is BAD_USER_INPUT', async (_what, input) => {
  const graph = await supergraph({ sandbox: true })
  await using _ = graph
  const { owner, brand } = await graph.seed.owner().brand()
  ;(await graph.execute(create, { input: { brandId: brand.id, copy: 'c', ...input } }, { as: owner })).refused('BAD_USER_INPUT')
})

test('a variable may have any name that GraphQL allows', async () => {
  await using graph = await supergraph()
  const { owner } = await graph.seed.owner().brand().posts(3)
  const variables = JSON.parse('{ "__proto__": 1, "constructor": 2 }') as Record<string, unknown>
  const source =
    'query ($__proto__: Int, $constructor: Int) { one: posts(first: $__proto__) { nodes { id } } two: posts(first: $constructor) { nodes { id } } }'
  const { one, two } = (await graph.execute(source, variables, { as: owner })).data()
  expect([one.nodes.length, two.nodes.length]).toEqual([1, 2])
})
