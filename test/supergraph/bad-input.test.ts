import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import type { BrandRow } from '../../subgraphs/publishing/stores/brand.ts'
import type { PostRow } from '../../subgraphs/publishing/stores/post.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

// None of these calls may change anything, so they share a platform: the last test compares the tables.
let graph: Supergraph
let owner: Viewer
let brand: BrandRow
let post: PostRow
let before: unknown

const tables = async () => {
  const found = await graph.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in (select slug from migrations.applied) order by 1`,
  )
  return Promise.all(found.map(async ({ name }) => [name, await graph.rows(`select * from ${name} t order by t::text`)]))
}

beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
  ;({ owner, brand, post } = await graph.seed.owner().brand().post())
  before = await tables()
})
afterAll(() => graph[Symbol.asyncDispose]())

/** What is wrong with an id. */
const malformed = [
  '',
  'nonsense',
  '1',
  "' or 1=1 --",
  '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8',
  '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e0',
  '{0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e}',
  'g197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e',
]

const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
const updatePost = 'mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }'
const reschedulePost = 'mutation($input: ReschedulePostInput!) { reschedulePost(input: $input) { id } }'
const deletePost = 'mutation($input: DeletePostInput!) { deletePost(input: $input) { id } }'
const resolveDelivery = 'mutation($input: ResolveDeliveryInput!) { resolveDelivery(input: $input) { id } }'
const connect = 'mutation($input: ConnectIntegrationInput!) { connectIntegration(input: $input) { authorizationUrl } }'

describe('a malformed id is BAD_USER_INPUT that names the field', () => {
  const good = { brandId: newId(), platform: 'X', copy: 'x' }
  test.each<[string, string, (id: string) => Record<string, unknown>, string]>([
    ['brand', 'query($id: ID!) { brand(id: $id) { id } }', id => ({ id }), 'id'],
    ['post', 'query($id: ID!) { post(id: $id) { id } }', id => ({ id }), 'id'],
    ['posts of a brand', 'query($id: ID) { posts(brandId: $id) { nodes { id } } }', id => ({ id }), 'brandId'],
    ['posts of a thread', 'query($id: ID) { posts(threadId: $id) { nodes { id } } }', id => ({ id }), 'threadId'],
    ['createPost of a brand', createPost, id => ({ input: { ...good, brandId: id } }), 'brandId'],
    ['updatePost', updatePost, id => ({ input: { id, copy: 'x' } }), 'id'],
    ['reschedulePost', reschedulePost, id => ({ input: { id, scheduledAt: '2027-05-01T00:00:00Z' } }), 'id'],
    ['deletePost', deletePost, id => ({ input: { id } }), 'id'],
    ['resolveDelivery', resolveDelivery, id => ({ input: { id } }), 'id'],
    ['connectIntegration', connect, id => ({ input: { brandId: id, platform: 'X' } }), 'brandId'],
  ])('%s', async (_what, document, variables, field) => {
    for (const id of malformed) expect((await graph.execute(document, variables(id), { as: owner })).refused('BAD_USER_INPUT').extensions.field, id).toBe(field)
  })

  test('createPost in a thread', async () => {
    for (const threadId of malformed)
      expect(
        (await graph.execute(createPost, { input: { ...good, brandId: brand.id, threadId } }, { as: owner })).refused('BAD_USER_INPUT').extensions.field,
      ).toBe('threadId')
  })

  test('an id in capitals is the same id', async () => {
    const asked = { id: post.id.toUpperCase() }
    expect((await graph.execute('query($id: ID!) { post(id: $id) { id } }', asked, { as: owner })).data().post.id).toBe(post.id)
  })
})

describe('input of wrong types is BAD_USER_INPUT', () => {
  const create = () => ({ brandId: brand.id, platform: 'X', copy: 'x' })
  test.each<[string, (good: ReturnType<typeof create>) => unknown]>([
    ['no input', () => undefined],
    ['null', () => null],
    ['text', () => 'x'],
    ['a list', () => []],
    ['nothing in it', () => ({})],
    ['no brand', ({ platform, copy }) => ({ platform, copy })],
    ['no copy', ({ brandId, platform }) => ({ brandId, platform })],
    ['an unknown network', good => ({ ...good, platform: 'MYSPACE' })],
    ['a network in lower case', good => ({ ...good, platform: 'x' })],
    ['a number as copy', good => ({ ...good, copy: 7 })],
    ['null as copy', good => ({ ...good, copy: null })],
    ['an object as copy', good => ({ ...good, copy: { toString: 'x' } })],
    ['a list as brand', good => ({ ...good, brandId: [good.brandId, good.brandId] })],
    ['an object as brand', good => ({ ...good, brandId: { id: good.brandId } })],
    ['a field that nobody knows', good => ({ ...good, colour: 'red' })],
    ['a time that is no time', good => ({ ...good, scheduledAt: 'tomorrow' })],
    ['a number as time', good => ({ ...good, scheduledAt: 1_900_000_000_000 })],
    ['a date without a time', good => ({ ...good, scheduledAt: '2027-05-01' })],
    ['the 30th of February', good => ({ ...good, scheduledAt: '2027-02-30T10:00:00Z' })],
    ['a truth as time', good => ({ ...good, scheduledAt: true })],
    ['a target that is text', good => ({ ...good, target: 'page' })],
    ['a target of no kind', good => ({ ...good, target: { externalId: '1' } })],
    ['a target of an unknown kind', good => ({ ...good, target: { kind: 'CASTLE', externalId: '1' } })],
    ['a target that the network does not have', good => ({ ...good, target: { kind: 'PAGE', externalId: '1' } })],
    ['a number as idempotency key', good => ({ ...good, idempotencyKey: 1 })],
    ['a NUL in the text', good => ({ ...good, copy: 'a\0b' })],
    ['more text than is kept', good => ({ ...good, copy: 'x'.repeat(63_207) })],
    ['a time that has passed', good => ({ ...good, scheduledAt: '2027-03-01T08:59:59.999Z' })],
    ['this very moment', good => ({ ...good, scheduledAt: '2027-03-01T09:00:00.000Z' })],
    ['a time in another zone that has passed', good => ({ ...good, scheduledAt: '2027-03-01T10:59:00+02:00' })],
    ['nothing to say at a set time', good => ({ ...good, copy: ' ', scheduledAt: '2027-05-01T00:00:00Z' })],
    ['more than the network takes at a set time', good => ({ ...good, copy: 'x'.repeat(281), scheduledAt: '2027-05-01T00:00:00Z' })],
    ['a set time on a network that is not spoken', good => ({ ...good, platform: 'TIKTOK', scheduledAt: '2027-05-01T00:00:00Z' })],
  ])('createPost with %s', async (_what, bend) => {
    expect((await graph.execute(createPost, { input: bend(create()) }, { as: owner })).refused('BAD_USER_INPUT').message).not.toMatch(/internal/i)
  })

  test.each<[string, object]>([
    ['a past time', { scheduledAt: '2020-01-01T00:00:00Z' }],
    ['null as copy', { copy: null }],
    ['a text as version', { copy: 'x', expectedVersion: '1' }],
    ['half a version', { copy: 'x', expectedVersion: 1.5 }],
    ['a version beyond 32 bits', { copy: 'x', expectedVersion: 4_294_967_296 }],
    ['a target for a network without one', { target: { kind: 'GROUP', externalId: '1' } }],
    ['a NUL in the text', { copy: '\0' }],
  ])('updatePost with %s', async (_what, input) => {
    ;(await graph.execute(updatePost, { input: { id: post.id, ...input } }, { as: owner })).refused('BAD_USER_INPUT')
  })

  test('reschedulePost without a time, with null and with a past one', async () => {
    for (const input of [{}, { scheduledAt: null }, { scheduledAt: graph.clock.soon(-1) }, { scheduledAt: graph.clock.soon(0) }])
      (await graph.execute(reschedulePost, { input: { id: post.id, ...input } }, { as: owner })).refused('BAD_USER_INPUT')
  })

  test('lists with unknown values', async () => {
    for (const [type, name, value] of [
      ['PostStatus', 'status', 'LOST'],
      ['Platform', 'platform', 'x'],
      ['DateTime', 'scheduledAfter', 'soon'],
      ['Int', 'first', '5'],
      ['Int', 'first', 1.5],
      ['String', 'after', 5],
    ] as const)
      (await graph.execute(`query($value: ${type}) { posts(${name}: $value) { nodes { id } } }`, { value }, { as: owner })).refused('BAD_USER_INPUT')
  })

  test('an author that is not an id', async () => {
    const asked = graph.execute('query($a: ID) { posts(authorId: $a) { nodes { id } } }', { a: "'; drop table publishing.posts" }, { as: owner })
    expect((await asked).refused('BAD_USER_INPUT')).toMatchObject({ extensions: { field: 'authorId' } })
  })
})

test('an unknown id is NOT_FOUND', async () => {
  const id = newId()
  for (const [document, input] of [
    [updatePost, { id, copy: 'x' }],
    [reschedulePost, { id, scheduledAt: graph.clock.soon() }],
    [deletePost, { id }],
    [resolveDelivery, { id, platformPostId: '1' }],
    [createPost, { brandId: id, platform: 'X', copy: 'x' }],
    [connect, { brandId: id, platform: 'X' }],
  ] as const)
    (await graph.execute(document, { input }, { as: owner })).refused('NOT_FOUND')
})

// Last in this file: checks what all the others left behind.
test('none of these requests stored anything', async () => {
  expect(await tables()).toEqual(before)
})
