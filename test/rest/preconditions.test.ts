import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { type RestWorld, restWorld } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const read = (id: string, headers: Record<string, string> = {}, method = 'GET') => world.ask('owner', method, `/posts/${id}`, undefined, headers)
const put = (id: string, headers: Record<string, string>, body: object = { copy: `Copy ${newId()}` }) =>
  world.ask('owner', 'PUT', `/posts/${id}`, body, headers)
const stale = { status: 409, code: 'CONFLICT', title: 'Conflict', reason: 'STALE_VERSION' }
const failed = { status: 412, code: 'CONFLICT', title: 'Precondition Failed' }

describe('a record', () => {
  test('has its version as a strong entity tag in every answer', async () => {
    const made = await world.ask('owner', 'POST', '/posts', { brandId: world.brandId, platform: 'x', copy: 'Hello' })
    expect([made.status, made.headers.etag]).toEqual([201, '"1"'])
    expect((await put(made.json.id, {})).headers.etag).toBe('"2"')
    expect((await read(made.json.id)).headers.etag).toBe('"2"')
  })

  test('has another tag during its delivery, and is still checked against its version', async () => {
    const { id } = await world.write({ scheduledAt: world.graph.clock.in(3_600_000).toISOString() })
    const row = await world.graph.job.posts.byId.load(id)
    const set = (changes: object) => inTransaction(world.graph.job, ({ transaction }) => world.graph.job.posts.update(row!, changes, transaction))
    await set({ deliveryPhase: 'CLAIMED', claimId: newId(), claimUntil: world.graph.clock.in(60_000) })
    const claimed = await read(id, { 'if-none-match': '"1"' })
    expect([claimed.status, claimed.headers.etag, claimed.json.deliveryPhase]).toEqual([200, '"1-claimed"', 'claimed'])
    await set({ deliveryPhase: 'NONE', claimId: null, claimUntil: null })
    expect((await put(id, { 'if-match': '"1-claimed"' })).status).toBe(200)
    expect((await put(id, { 'if-match': '"1-claimed"' })).json).toMatchObject(stale)
  })

  test('has another tag each time it waits for its network anew', async () => {
    const { id } = await world.write({ scheduledAt: world.graph.clock.in(3_600_000).toISOString() })
    const row = await world.graph.job.posts.byId.load(id)
    const waiting = { waitsUntil: world.graph.clock.in(5000), waitingSince: world.graph.clock.now(), waits: 1 }
    await inTransaction(world.graph.job, ({ transaction }) => world.graph.job.posts.update(row!, waiting, transaction))
    const answer = await read(id, { 'if-none-match': '"1"' })
    expect([answer.status, answer.headers.etag, answer.json.waitsUntil]).toEqual([
      200,
      `"1-${waiting.waitsUntil.toISOString()}"`,
      waiting.waitsUntil.toISOString(),
    ])
    expect((await read(id, { 'if-none-match': String(answer.headers.etag) })).status).toBe(304)
    expect((await put(id, { 'if-match': String(answer.headers.etag) })).status).toBe(200)
  })

  test('has another tag while it waits for an earlier post of its thread, which it names', async () => {
    const scheduledAt = world.graph.clock.in(3_600_000).toISOString()
    const first = await world.write({ scheduledAt })
    const { threadId, ...alone } = (await read(first.id)).json
    expect(alone).toMatchObject({ position: 1, waitsForId: null })
    const { id } = await world.write({ scheduledAt, threadId })
    const waiting = await read(id)
    expect(waiting.json).toMatchObject({ position: 2, waitsForId: first.id, version: 1 })
    expect(waiting.json).not.toHaveProperty('waitsFor')
    expect(waiting.headers.etag).toBe(`"1-${first.id}"`)
    const listed = (await world.ask('owner', 'GET', `/posts?threadId=${threadId}`)).json.posts
    expect(listed.map(({ position, waitsForId }: Record<string, unknown>) => [position, waitsForId])).toEqual([
      [1, null],
      [2, first.id],
    ])
    await world.ask('owner', 'DELETE', `/posts/${first.id}`)
    const free = await read(id, { 'if-none-match': String(waiting.headers.etag) })
    expect([free.status, free.headers.etag, free.json.waitsForId]).toEqual([200, '"1"', null])
    expect((await put(id, { 'if-match': String(waiting.headers.etag) })).status).toBe(200)
  })

  test('is only changed at the version of If-Match: any other is 409 with the present one, and nothing is stored', async () => {
    const { id } = await world.write()
    expect((await put(id, { 'if-match': '"1"' })).status).toBe(200)
    const refused = await put(id, { 'if-match': '"1"' }, { copy: 'late' })
    expect(refused.json).toMatchObject({ ...stale, version: 2, detail: expect.stringMatching(/read it/i) })
    expect((await read(id)).json).toMatchObject({ version: 2, copy: expect.not.stringContaining('late') })
    expect((await world.ask('owner', 'DELETE', `/posts/${id}`, undefined, { 'if-match': '"1"' })).json).toMatchObject({ ...stale, version: 2 })
    expect((await world.ask('owner', 'DELETE', `/posts/${id}`, undefined, { 'if-match': '"2"' })).status).toBe(204)
  })

  test('has its version checked by an action, too', async () => {
    const { json: brand } = await world.ask('owner', 'POST', '/brands', { name: 'A brand' })
    const act = (action: string, tag: string) => world.ask('owner', 'POST', `/brands/${brand.id}/${action}`, undefined, { 'if-match': tag })
    expect((await act('archive', '"7"')).json).toMatchObject({ ...stale, version: 1 })
    expect(await act('archive', '"1"')).toMatchObject({ status: 200, headers: { etag: '"2"' } })
    expect((await act('restore', 'W/"2"')).json).toMatchObject({ ...stale, version: 2 })
    expect((await act('restore', '*')).status).toBe(200)
  })

  test('is not matched by a weak tag, nor by a foreign one', async () => {
    const { id } = await world.write()
    for (const tag of ['W/"1"', '"abc"', '"1x"', '""', '"01234567890"', 'W/"1", "abc"']) {
      expect((await put(id, { 'if-match': tag })).json, tag).toMatchObject({ ...stale, version: 1 })
      expect((await world.ask('owner', 'DELETE', `/posts/${id}`, undefined, { 'if-match': tag })).status, tag).toBe(409)
    }
    expect((await put(id, { 'if-match': 'W/"7", "1"' })).status).toBe(200)
  })

  test('is matched at any version by *', async () => {
    const { id } = await world.write()
    expect((await put(id, { 'if-match': '*' })).status).toBe(200)
    expect((await put(newId(), { 'if-match': '*' })).status).toBe(404)
  })

  test('is answered with an error for an invalid tag, and for several versions at once', async () => {
    const { id } = await world.write()
    for (const tag of ['1', 'abc', '"1', '"1" "2"', '"1", *', '"1", "2"'])
      expect((await put(id, { 'if-match': tag })).json, tag).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', field: 'If-Match' })
    expect((await read(id, { 'if-none-match': 'x' })).json).toMatchObject({ status: 400, field: 'If-None-Match' })
  })

  test('of another organization is hidden before anything is compared', async () => {
    const { id } = await world.write()
    const ask = (who: 'nobody' | 'viewer' | 'outsider', method: string, header: string) =>
      world.ask(who, method, `/posts/${id}`, method === 'PUT' ? { copy: 'x' } : undefined, { [header]: '"7"' })
    for (const method of ['PUT', 'DELETE']) {
      expect((await ask('nobody', method, 'if-match')).status).toBe(401)
      expect((await ask('viewer', method, 'if-match')).status).toBe(403)
      expect((await ask('outsider', method, 'if-match')).status).toBe(404)
    }
    const known = (who: 'nobody' | 'outsider') => world.ask(who, 'GET', `/posts/${id}`, undefined, { 'if-none-match': '*' })
    expect([(await known('nobody')).status, (await known('outsider')).status]).toEqual([401, 404])
  })

  test('is 409 in a state that forbids the change, when the version matches', async () => {
    const { id } = await world.write()
    const row = await world.graph.job.posts.byId.load(id)
    const published = { status: 'PUBLISHED' as const, publishedAt: world.graph.clock.now(), platformPostId: newId() }
    await inTransaction(world.graph.job, ({ transaction }) => world.graph.job.posts.update(row!, published, transaction))
    expect((await put(id, { 'if-match': '"1"' })).json).toMatchObject({ status: 409, code: 'CONFLICT' })
  })

  test('keeps its version when nothing changed', async () => {
    const { id } = await world.write()
    expect((await put(id, { 'if-match': '"1"' }, {})).headers.etag).toBe('"1"')
    expect((await put(id, { 'if-match': '"1"' }, { copy: 'A post', scheduledAt: null })).json.version).toBe(1)
  })
})

describe('a cached answer', () => {
  test.each(['"1"', 'W/"1"', '*', '"7", "1"'])('is 304 without a body for %s', async tag => {
    const { id } = await world.write()
    for (const method of ['GET', 'HEAD']) {
      const answer = await read(id, { 'if-none-match': tag }, method)
      expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', '"1"'])
      expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: expect.stringContaining('Authorization') })
    }
  })

  test('is sent again when it has changed', async () => {
    const { id } = await world.write()
    await put(id, {})
    expect(await read(id, { 'if-none-match': '"1"' })).toMatchObject({ status: 200, json: { id, version: 2 } })
  })

  test('of a list is validated by its content', async () => {
    const list = (headers: Record<string, string> = {}) => world.ask('owner', 'GET', '/posts?first=2', undefined, headers)
    const first = await list()
    const tag = String(first.headers.etag)
    expect(tag).toMatch(/^W\/"[\w-]{27}"$/)
    expect((await list({ 'if-none-match': tag })).status).toBe(304)
    await world.write()
    const second = await list({ 'if-none-match': tag })
    expect([second.status, second.headers.etag === tag]).toEqual([200, false])
    expect((await world.ask('owner', 'GET', '/widget')).headers.etag).toMatch(/^W\//)
  })

  test('is 412 for a read under If-Match with another tag, and for weak tags', async () => {
    const { id } = await world.write()
    expect((await read(id, { 'if-match': '"1"' })).status).toBe(200)
    for (const tag of ['"2"', 'W/"1"']) expect((await read(id, { 'if-match': tag })).json, tag).toMatchObject(failed)
    const list = await world.ask('owner', 'GET', '/posts')
    const tag = String(list.headers.etag)
    for (const named of [tag, tag.replace('W/', '')]) expect((await world.ask('owner', 'GET', '/posts', undefined, { 'if-match': named })).status).toBe(412)
  })
})

test('rejects a change with a precondition that it cannot check', async () => {
  const { id } = await world.write()
  const count = async () => (await world.graph.rows('select count(*)::int as n from publishing.posts'))[0]
  const before = await count()
  const body = { brandId: world.brandId, platform: 'x', copy: 'Hello' }
  expect((await world.ask('owner', 'POST', '/posts', body, { 'if-match': '"1"' })).json).toMatchObject(failed)
  expect((await put(id, { 'if-none-match': '*' })).json).toMatchObject(failed)
  expect((await world.ask('owner', 'DELETE', `/posts/${id}`, undefined, { 'if-none-match': '"1"' })).json).toMatchObject(failed)
  expect([await count(), (await read(id)).json.version]).toEqual([before, 1])
})
