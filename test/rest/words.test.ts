import { isEnumType } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { deriveTables } from '../../router/rest/derive/tables.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { routeRows } from '../access/matrix.ts'
import type { Reply } from '../kit/door.ts'
import { readApi } from '../schema/graph.ts'
import { type RestWorld, restWorld, type Who } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const enumValues = Object.values(readApi().schema.getTypeMap()).flatMap(type => (isEnumType(type) ? type.getValues().map(({ name }) => name) : []))
const graphWords = [
  /\$\w/,
  /\bVariable\b/,
  /\b(?:Query|Mutation|Subscription)\./,
  /\bExpected type\b/,
  /\b(?:ID|String|Int|DateTime|\w+Input)!|\[\w+!?\]!/,
  /\b(?:endCursor|expectedVersion|idempotencyKey)\b/,
  new RegExp(`\\b(?:${enumValues.filter(name => name.length > 1).join('|')})\\b`),
]

/** What of a problem speaks GraphQL, codes and reasons aside; nothing when all of it is REST's. */
function graphSpeech({ json, text }: Reply): readonly string[] {
  const { code: _code, reason: _reason, ...sentences } = json ?? { text }
  return graphWords.flatMap(word => word.exec(JSON.stringify(sentences))?.[0] ?? [])
}

const isProblem = (answer: Reply) => /^application\/problem\+json/.test(String(answer.headers['content-type']))

describe('no route uses terms of GraphQL, whatever the request', () => {
  const operations = deriveTables(routeTables, readApi().schema).tables.flatMap(({ slug, rows }) =>
    rows.flatMap(row => (row.kind === 'operation' ? [{ at: `${row.method} /${slug}${row.path}`, row }] : [])),
  )
  const values: readonly unknown[] = [undefined, null, '', 'nonsense', 'x\0y', 7, -1, 1.5, 1e20, true, [], ['x'], {}, { kind: 'castle' }, { a: { b: 1 } }]
  const targets: readonly unknown[] = [
    { kind: 'page' },
    { kind: 'page', externalId: 7 },
    { kind: 'page', externalId: '1', colour: 'red' },
    { kind: 'page', externalId: '1' },
  ]
  const asked: readonly string[] = ['', 'nonsense', '0', '-1', '101', '1.5', '1e3', '99999999999', '2027-02-30T00:00:00Z', '[]', 'DRAFT,FAILED', newId()]

  test.each(operations)('$at', async ({ at, row }) => {
    const { path, body } = routeRows.find(each => each.at === at)!
    const fresh = (await world.write()).id
    const ids = {
      organization: newId(),
      brand: world.brandId,
      post: world.postId,
      waiting: world.postId,
      failed: world.postId,
      targeted: world.postId,
      order: newId(),
      profile: newId(),
      fresh,
    }
    const good = { ...(body?.(ids) as object | undefined) }
    const way = path(ids)
    const spoken: string[] = []
    const statuses = new Set<number>()
    const send = async (who: Who, at: string, sent?: unknown, headers?: Record<string, string>) => {
      const answer = await world.ask(who, row.method, at, sent, headers)
      statuses.add(answer.status)
      const wrong = answer.status < 400 ? [] : [...graphSpeech(answer), ...(isProblem(answer) && answer.status < 500 ? [] : [`status ${answer.status}`])]
      if (wrong.length > 0) spoken.push(`${who} ${at} ${JSON.stringify(sent)} → ${wrong} in ${answer.text}`)
    }
    const plain = row.body ? good : undefined
    for (const who of ['nobody', 'reader', 'viewer', 'outsider'] as const) await send(who, way, plain)
    for (const name of row.body ?? [])
      for (const value of [...values, ...(name === 'target' ? targets : [])]) await send('owner', way, { ...good, [name]: value })
    for (const whole of row.body ? [[], 'text', null, 7, { ...good, colour: 'red' }] : []) await send('owner', way, whole)
    for (const name of [...(row.query ?? []), 'colour']) for (const value of asked) await send('owner', `${way}?${name}=${encodeURIComponent(value)}`, plain)
    for (const value of ['nonsense', '7', newId(), '%7B%7D'])
      await send('owner', row.path.includes(':') ? `/${at.split('/')[1]}${row.path.replace(/:\w+/, value)}` : way, plain)
    for (const tag of ['"999"', 'W/"1"', '"abc"', 'abc', '*', '"1", "2"']) await send('owner', way, plain, { 'if-match': tag })
    for (const key of ['', 'x'.repeat(256)]) await send('owner', way, plain, { 'idempotency-key': key })
    expect(spoken).toEqual([])
    expect([...statuses].some(status => status >= 400)).toBe(true)
  })
})

describe('mistakes are named in the route’s terms', () => {
  const good = { brandId: newId(), platform: 'x', copy: 'Hello' }
  const anId = newId()
  test.each<[string, string, string, unknown, string, string]>([
    ['a missing field', 'POST', '/posts', { brandId: anId, platform: 'x' }, 'copy', 'copy is missing.'],
    ['no network', 'POST', '/posts', { brandId: anId, copy: 'x' }, 'platform', 'platform is missing.'],
    ['null', 'POST', '/posts', { ...good, copy: null }, 'copy', 'copy cannot be null.'],
    ['a number for a text', 'POST', '/posts', { ...good, copy: 7 }, 'copy', 'copy must be text.'],
    ['an object for an id', 'POST', '/posts', { ...good, brandId: {} }, 'brandId', 'brandId must be an id.'],
    ['a malformed id in the body', 'POST', '/posts', { ...good, brandId: 'x' }, 'brandId', 'brandId is not an id: expected a UUID'],
    [
      'an unknown network',
      'POST',
      '/posts',
      { ...good, platform: 'myspace' },
      'platform',
      'platform is "myspace": it takes x, linkedin, linkedin_page, facebook, instagram, threads, youtube, tiktok.',
    ],
    ['a list for a network', 'POST', '/posts', { ...good, platform: ['x'] }, 'platform', 'platform must be one of x, linkedin,'],
    ['no moment', 'POST', '/posts', { ...good, scheduledAt: 'tomorrow' }, 'scheduledAt', 'scheduledAt must be a moment such as 2027-03-01T09:30:00Z.'],
    ['text for a target', 'POST', '/posts', { ...good, target: 'page' }, 'target', 'target must be an object with kind, externalId, name.'],
    [
      'a target of an unknown kind',
      'POST',
      '/posts',
      { ...good, target: { kind: 'castle', externalId: '1' } },
      'target.kind',
      'target.kind is "castle": it takes page,',
    ],
    ['a target without an id', 'POST', '/posts', { ...good, target: { kind: 'page' } }, 'target.externalId', 'target.externalId is missing.'],
    [
      'an unknown part',
      'POST',
      '/posts',
      { ...good, target: { kind: 'page', externalId: '1', colour: 1 } },
      'target.colour',
      'There is no field "target.colour" here: known are kind',
    ],
    ['a malformed id in the path', 'GET', '/posts/x', undefined, 'id', 'id is not an id: expected a UUID'],
    ['a malformed id that the path calls otherwise', 'GET', '/brands/x', undefined, 'brandId', 'brandId is not an id: expected a UUID'],
    ['a malformed cursor', 'GET', '/posts?after=x', undefined, 'after', 'after is not a cursor of this list'],
    ['a page that is too large', 'GET', '/posts?first=1000', undefined, 'first', 'first is 1000: ask for 1 to 100 entries'],
    ['a page of no number', 'GET', '/posts?first=many', undefined, 'first', 'first must be a whole number.'],
    ['an unknown status', 'GET', '/posts?status=odd', undefined, 'status', 'status is "odd": it takes draft, scheduled, published, failed.'],
    ['an unknown parameter', 'GET', '/posts?colour=red', undefined, 'colour', 'There is no query parameter "colour" here'],
  ])('%s', async (_what, method, path, body, field, sentence) => {
    const answer = await world.ask('owner', method, path, body)
    expect(answer.json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', field, detail: expect.stringContaining(sentence) })
    expect(isProblem(answer)).toBe(true)
  })

  test('an unknown network in the path is an unknown address', async () => {
    const answer = await world.ask('owner', 'POST', '/integrations/my-space/connect', { brandId: anId })
    const detail = expect.stringContaining('platform is "my_space": it takes x,')
    expect(answer.json).toMatchObject({ status: 404, code: 'NOT_FOUND', field: 'platform', detail })
  })

  test('an idempotency key that is too long is named by its header', async () => {
    const send = (length: number) => world.ask('owner', 'POST', '/posts', { ...good, brandId: world.brandId }, { 'idempotency-key': 'x'.repeat(length) })
    expect((await send(255)).status).toBe(201)
    expect((await send(256)).json).toMatchObject({
      status: 400,
      field: 'Idempotency-Key',
      detail: 'Idempotency-Key must have 1 to 255 characters, none of them NUL or half of one.',
    })
  })

  test('an idempotency key that was used for other content', async () => {
    const send = (copy: string) => world.ask('owner', 'POST', '/posts', { ...good, brandId: world.brandId, copy }, { 'idempotency-key': 'once' })
    const first = await send('Hello')
    expect(await send('Hello')).toMatchObject({ status: 201, json: { id: first.json.id }, headers: { location: first.headers.location } })
    expect((await send('Other')).json).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      reason: 'KEY_REUSED',
      field: 'Idempotency-Key',
      detail: expect.stringMatching(/^This Idempotency-Key was used/),
    })
  })

  test('a state in lower case, in the message and in the details', async () => {
    const { id } = await world.write()
    const row = await world.graph.job.posts.byId.load(id)
    const published = { status: 'PUBLISHED' as const, publishedAt: world.graph.clock.now(), platformPostId: newId() }
    await inTransaction(world.graph.job, ({ transaction }) => world.graph.job.posts.update(row!, published, transaction))
    const answer = await world.ask('owner', 'PUT', `/posts/${id}`, { copy: 'New' })
    expect(answer.json).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      from: 'published',
      detail: expect.stringContaining('A published post cannot be edited.'),
    })
  })

  test('the scope that would grant access, without the graph’s names', async () => {
    expect((await world.ask('nobody', 'GET', '/posts')).json).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
      detail: 'Sign in: this takes the scope publishing:posts.read.',
      requiredScopes: [['publishing:posts.read']],
    })
    expect((await world.ask('reader', 'DELETE', `/posts/${world.postId}`)).json).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      detail: 'You may not do this: it takes the scope publishing:posts.write.',
    })
    expect((await world.ask('reader', 'POST', '/integrations/x/connect', { brandId: world.brandId })).json.detail).toMatch(
      /^You may not do this: it takes .*the policy person\.$/,
    )
  })
})
