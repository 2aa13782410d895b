import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { routeTables } from '../../router/rest/tables.ts'
import type { Reply } from '../kit/door.ts'
import { type RestWorld, restWorld, type Who } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** One route as a caller meets it. */
interface Exchange {
  readonly path: (id: string) => string
  readonly body?: () => object
  /** Makes what the path names; without it, the path names nothing of anybody's. */
  readonly make?: () => Promise<string>
  /** Who is known and may not. */
  readonly forbidden: Who
  /** What it answers when all is well. */
  readonly answers: (id: string) => object
  /** How often it works on the same thing. */
  readonly once?: true
}

const aPost = async () => (await world.write()).id
const aBrand = async () => (await world.ask('owner', 'POST', '/brands', { name: 'A brand' })).json.id as string
const anArchivedBrand = async () => {
  const id = await aBrand()
  await world.ask('owner', 'POST', `/brands/${id}/archive`)
  return id
}
const list = (name: string) => () => ({ status: 200, json: { [name]: expect.any(Array), totalCount: expect.any(Number) } })
const made = (noun: string) => () => ({
  status: 201,
  headers: { etag: '"1"', location: expect.stringMatching(new RegExp(`^/publishing/api/${noun}/[\\w-]{36}$`)) },
})
const post = (id: string) => `/posts/${id}`
const brand = (id: string) => `/brands/${id}`
const archived = { archivedAt: expect.any(String) }

/** By method and path, as the tables have them. */
const exchanges: Readonly<Record<string, Exchange>> = {
  'GET /publishing/api/posts': { path: () => '/posts', forbidden: 'stranger', answers: list('posts') },
  'POST /publishing/api/posts': {
    path: () => '/posts',
    body: () => ({ brandId: world.brandId, platform: 'x', copy: 'Hello' }),
    forbidden: 'viewer',
    answers: made('posts'),
  },
  'GET /publishing/api/posts/:id': { path: post, make: aPost, forbidden: 'stranger', answers: id => ({ status: 200, json: { id, status: 'draft' } }) },
  'PUT /publishing/api/posts/:id': {
    path: post,
    make: aPost,
    body: () => ({ copy: 'New' }),
    forbidden: 'viewer',
    answers: id => ({ status: 200, json: { id, copy: 'New', version: 2 } }),
  },
  'DELETE /publishing/api/posts/:id': { path: post, make: aPost, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
  'POST /publishing/api/integrations/:platform/connect': {
    path: () => '/integrations/x/connect',
    body: () => ({ brandId: world.brandId }),
    forbidden: 'viewer',
    answers: () => ({ status: 200, json: { authorizationUrl: expect.stringMatching(/^http.*state=/) } }),
  },
  'GET /publishing/api/widget': { path: () => '/widget', forbidden: 'reader', answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }) },
  'GET /publishing/api/brands': { path: () => '/brands', forbidden: 'reader', answers: list('brands') },
  'POST /publishing/api/brands': { path: () => '/brands', body: () => ({ name: 'A brand' }), forbidden: 'viewer', answers: made('brands') },
  'GET /publishing/api/brands/:brandId': { path: brand, make: aBrand, forbidden: 'reader', answers: id => ({ status: 200, json: { id, version: 1 } }) },
  'PUT /publishing/api/brands/:brandId': {
    path: brand,
    make: aBrand,
    body: () => ({ name: 'New' }),
    forbidden: 'viewer',
    answers: id => ({ status: 200, json: { id, name: 'New', version: 2 } }),
  },
  'POST /publishing/api/brands/:brandId/archive': {
    path: id => `/brands/${id}/archive`,
    make: aBrand,
    forbidden: 'viewer',
    answers: id => ({ status: 200, json: { id, ...archived } }),
  },
  'POST /publishing/api/brands/:brandId/restore': {
    path: id => `/brands/${id}/restore`,
    make: anArchivedBrand,
    forbidden: 'viewer',
    answers: id => ({ status: 200, json: { id, archivedAt: null } }),
  },
}

test('every route that is an operation has an exchange here', () => {
  const routes = routeTables.flatMap(({ slug, rows }) => rows.flatMap(row => (row.kind === 'operation' ? [`${row.method} /${slug}${row.path}`] : [])))
  expect(Object.keys(exchanges).sort()).toEqual(routes.sort())
})

describe('a route', () => {
  test.each(Object.entries(exchanges))('%s', async (at, { path, body, make, forbidden, answers, once }) => {
    const method = at.split(' ')[0]!
    const id = make ? await make() : ''
    const ask = (who: Who, way = path(id)): Promise<Reply> => world.ask(who, method, way, body?.())
    const problem = (status: number, code: string) => ({
      status,
      headers: { 'content-type': expect.stringMatching(/^application\/problem\+json/) },
      json: { status, code, detail: expect.any(String), requestId: expect.any(String) },
    })
    expect(await ask('nobody')).toMatchObject({ ...problem(401, 'UNAUTHENTICATED'), headers: { 'www-authenticate': 'Bearer' } })
    expect(await ask(forbidden)).toMatchObject(problem(403, 'FORBIDDEN'))
    if (make || JSON.stringify(body?.() ?? {}).includes(world.brandId)) {
      expect(await ask('outsider'), 'of another organization').toMatchObject(problem(404, 'NOT_FOUND'))
      if (make) expect((await ask('owner', path(newId()))).json.detail, 'nobody’s').toMatch(/\w/)
    }
    expect(await ask('owner')).toMatchObject(answers(id))
    if (once) expect(await ask('owner')).toMatchObject(problem(404, 'NOT_FOUND'))
  })

  test('of another organization is told in the same words as one that is nobody’s', async () => {
    const [theirs, none] = [await aPost(), newId()]
    const detail = async (who: Who, id: string) => (await world.ask(who, 'GET', post(id))).json.detail.replace(id, 'ID')
    expect(await detail('outsider', theirs)).toBe(await detail('owner', none))
  })
})

describe('S-05 each filter of posts narrows the list', () => {
  test('by brand, thread, status, platform, author and time', async () => {
    const at = (hours: number) => world.graph.clock.in(hours * 3_600_000).toISOString()
    const other = await aBrand()
    const write = async (input: object) =>
      (await world.ask('owner', 'POST', '/posts', { brandId: other, platform: 'x', copy: `Copy ${newId()}`, ...input })).json
    const draft = await write({})
    const early = await write({ scheduledAt: at(1) })
    const late = await write({ scheduledAt: at(3), threadId: early.id })
    const elsewhere = await write({ platform: 'facebook' })
    const all = [draft.id, early.id, late.id, elsewhere.id]
    const found = async (query: string) => {
      const { posts } = (await world.ask('owner', 'GET', `/posts?brandId=${other}&first=100${query}`)).json
      return posts.map(({ id }: { id: string }) => id).sort()
    }
    expect(await found('')).toEqual(all.sort())
    expect(await found(`&threadId=${early.id}`)).toEqual([early.id, late.id].sort())
    expect(await found('&status=scheduled')).toEqual([early.id, late.id].sort())
    expect(await found('&platform=facebook')).toEqual([elsewhere.id])
    expect(await found(`&scheduledAfter=${at(2)}`)).toEqual([late.id])
    expect(await found(`&scheduledBefore=${at(2)}`)).toEqual([early.id])
    expect(await found(`&authorId=${draft.author.id}`)).toEqual(all.sort())
    expect(await found(`&authorId=${newId()}`)).toEqual([])
    expect((await world.ask('owner', 'GET', `/posts?brandId=${world.brandId}&first=100`)).json.posts.map(({ id }: { id: string }) => id)).not.toContain(
      draft.id,
    )
  })
})
