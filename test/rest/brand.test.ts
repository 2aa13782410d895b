import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { type Door, openDoor } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const password = 'correct horse battery'

let graph: Supergraph
let door: Door
let owner: Record<string, string>
let outsider: Record<string, string>

beforeAll(async () => {
  graph = await supergraph({ sandbox: true, now: new Date().toISOString() })
  door = await openDoor(graph)
  await graph.platform.identity.provision({
    password,
    people: ['owner', 'outsider'].map(name => ({ email: `${name}@test.test`, name })),
    organizations: [
      { slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] },
      { slug: 'other', name: 'Other', members: [{ email: 'outsider@test.test', roles: ['owner'] }] },
    ],
    keys: [],
  })
  owner = await door.signIn('owner@test.test', password)
  outsider = await door.signIn('outsider@test.test', password)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = owner) =>
  door.ask(method, `/publishing/api/brands${path}`, { headers, ...(body !== undefined && { body }) })

describe('brands over REST', () => {
  test('POST creates one: 201, Location, its version; the same key again returns the same', async () => {
    const once = { ...owner, 'idempotency-key': newId() }
    const made = await ask('POST', '', { name: 'Bread', description: 'Crust' }, once)
    expect([made.status, made.headers.location, made.headers.etag]).toEqual([201, `/publishing/api/brands/${made.json.id}`, '"1"'])
    expect(made.json).toMatchObject({ name: 'Bread', description: 'Crust', archivedAt: null, version: 1, organizationId: expect.any(String) })
    expect((await ask('POST', '', { name: 'Bread', description: 'Crust' }, once)).json).toEqual(made.json)
    expect((await ask('GET', `/${made.json.id}`)).json).toEqual(made.json)
  })

  test('REST and GraphQL share idempotency keys', async () => {
    const viaGraph = async (idempotencyKey: string, name: string) => {
      const query = 'mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }'
      const { json } = await door.ask('POST', '/graphql', { headers: owner, body: { query, variables: { input: { idempotencyKey, name } } } })
      return json.data?.createBrand ?? json.errors[0].extensions
    }
    const viaRest = async (key: string, name: string) => (await ask('POST', '', { name }, { ...owner, 'idempotency-key': key })).json
    const [one, two] = [newId(), newId()]
    expect((await viaRest(one, 'One')).id).toBe((await viaGraph(one, 'One')).id)
    expect((await viaGraph(two, 'Two')).id).toBe((await viaRest(two, 'Two')).id)
    for (const via of [viaGraph, viaRest]) expect(await via(one, 'Other')).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
  })

  test('PUT changes the given fields, at the version that If-Match names', async () => {
    const { json: brand } = await ask('POST', '', { name: 'Before', description: 'Stays' })
    const changed = await ask('PUT', `/${brand.id}`, { name: 'After' }, { ...owner, 'if-match': '"1"' })
    expect([changed.status, changed.headers.etag, changed.json]).toMatchObject([200, '"2"', { name: 'After', description: 'Stays', version: 2 }])
    const stale = await ask('PUT', `/${brand.id}`, { name: 'Late' }, { ...owner, 'if-match': '"1"' })
    expect(stale.status).toBe(409)
    expect(stale.json).toMatchObject({ code: 'CONFLICT', reason: 'STALE_VERSION' })
  })

  test('archive and restore return the present brand, and the list filters by it', async () => {
    const { json: brand } = await ask('POST', '', { name: 'Now and then' })
    const names = async (query = '') => (await ask('GET', query)).json.brands.map(({ id }: { id: string }) => id).includes(brand.id)
    expect((await ask('POST', `/${brand.id}/archive`)).json).toMatchObject({ id: brand.id, archivedAt: expect.any(String), version: 2 })
    expect([await names('?first=100'), await names('?archived=true&first=100')]).toEqual([false, true])
    expect(await ask('PUT', `/${brand.id}`, { name: 'x' })).toMatchObject({ status: 409, json: { code: 'CONFLICT', reason: 'BRAND_ARCHIVED' } })
    expect((await ask('POST', `/${brand.id}/restore`)).json).toMatchObject({ archivedAt: null, version: 3 })
    expect([await names('?archived=false&first=100'), await names('?archived=true')]).toEqual([true, false])
  })

  test('a list is paged', async () => {
    for (const name of ['one', 'two']) await ask('POST', '', { name })
    const { json: first } = await ask('GET', '?first=1')
    const { json: next } = await ask('GET', `?first=1&after=${first.nextCursor}`)
    expect([first.brands.length, next.brands.length, first.totalCount]).toEqual([1, 1, next.totalCount])
    expect(next.brands[0].id).not.toBe(first.brands[0].id)
  })

  test('answers 404 for another organization’s brand, 401 to anonymous callers, and names what is wrong', async () => {
    const { json: brand } = await ask('POST', '', { name: 'Mine' })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'x' }],
      ['POST', '/archive', undefined],
      ['POST', '/restore', undefined],
    ] as const) {
      expect((await ask(method, `/${brand.id}${path}`, body, outsider)).status).toBe(404)
      expect((await ask(method, `/${brand.id}${path}`, body, {})).status).toBe(401)
    }
    expect(await ask('POST', '', { name: ' ' })).toMatchObject({ status: 400, json: { code: 'BAD_USER_INPUT', field: 'name' } })
    for (const [path, body] of [
      ['?archived=perhaps', undefined],
      ['', { name: 'x', color: 'red' }],
    ] as const)
      expect((await ask(body ? 'POST' : 'GET', path, body)).status).toBe(400)
  })
})
