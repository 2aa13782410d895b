import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { type RestWorld, restWorld } from './world.ts'

let world: RestWorld
beforeAll(async () => {
  world = await restWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const post = (body: unknown, headers: Record<string, string> = {}) => world.ask('owner', 'POST', '/posts', body, headers)
const good = () => ({ brandId: world.brandId, platform: 'x', copy: 'Grüße' })

describe('methods', () => {
  test('HEAD answers like GET, without the body: status, type, length and tag', async () => {
    for (const path of [`/posts/${world.postId}`, '/posts?first=1', `/posts/${newId()}`, '/posts?first=0', '/widget']) {
      const [get, head] = [await world.ask('owner', 'GET', path), await world.ask('owner', 'HEAD', path)]
      expect([head.status, head.text], path).toEqual([get.status, ''])
      for (const name of ['content-type', 'etag', 'cache-control', 'vary']) expect(head.headers[name], `${path} ${name}`).toBe(get.headers[name])
      expect(Number(head.headers['content-length']), path).toBeGreaterThan(0)
    }
    expect((await world.ask('nobody', 'HEAD', `/posts/${world.postId}`)).status).toBe(401)
  })

  test.each([
    ['/posts', 'GET, HEAD, POST, OPTIONS'],
    ['/posts/x', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/widget', 'GET, HEAD, OPTIONS'],
    ['/integrations/x/connect', 'POST, OPTIONS'],
    // Not the post of id `check`.
    ['/posts/check', 'POST, OPTIONS'],
  ])('%s says which it takes, to OPTIONS and to every other', async (path, allow) => {
    for (const at of [path, `${path}/`]) {
      const asked = await world.ask('nobody', 'OPTIONS', at)
      expect([asked.status, asked.text, asked.headers.allow], at).toEqual([204, '', allow])
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'].filter(each => !allow.includes(each)))
        expect(await world.ask('owner', method, at, undefined, { 'content-type': 'text/plain' }), `${method} ${at}`).toMatchObject({
          status: 405,
          headers: { allow, 'content-type': expect.stringContaining('problem+json') },
        })
    }
  })

  test('QUERY at an unknown path without a content type is the caller’s mistake', async () => {
    expect((await world.ask('owner', 'QUERY', '/nothing')).status).toBe(400)
  })

  test('a preflight from our own pages is answered before authentication', async () => {
    const asked = { origin: 'http://localhost:4000', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'if-match' }
    const answer = await world.ask('nobody', 'OPTIONS', `/posts/${world.postId}`, undefined, asked)
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers['access-control-allow-headers']]).toEqual([
      204,
      'http://localhost:4000',
      'if-match',
    ])
  })
})

describe('addresses', () => {
  test('with a trailing slash are the same', async () => {
    const { json: made } = await world.ask('owner', 'POST', '/posts/', good())
    for (const path of [`/posts/${made.id}`, '/posts'])
      expect((await world.ask('owner', 'GET', `${path}/`)).text).toBe((await world.ask('owner', 'GET', path)).text)
    expect((await world.ask('owner', 'DELETE', `/posts/${made.id}/`)).status).toBe(204)
    expect((await world.ask('owner', 'GET', `/posts/${made.id}//`)).status).toBeGreaterThanOrEqual(400)
  })

  test('with a repeated parameter use the last value', async () => {
    expect((await world.ask('owner', 'GET', '/posts?first=nonsense&first=1')).status).toBe(200)
    expect((await world.ask('owner', 'GET', '/posts?first=1&first=nonsense')).status).toBe(400)
  })

  test('of created records lead to them', async () => {
    const made = await post(good())
    expect((await world.ask('owner', 'GET', String(made.headers.location))).json).toEqual(made.json)
  })
})

describe('bodies', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"; v=1',
    'application/json; charset=us-ascii',
  ])('are read as %s', async type => {
    expect((await post(good(), { 'content-type': type })).json).toMatchObject({ copy: 'Grüße' })
  })

  test.each([
    'application/json; charset=iso-8859-1',
    'application/json;charset=utf-16',
    'text/json',
    'application/vnd.api+json',
    'multipart/form-data; boundary=x',
  ])('are 415 as %s', async type => {
    expect((await post(good(), { 'content-type': type })).json).toMatchObject({ status: 415, code: 'BAD_USER_INPUT' })
  })

  test('in invalid UTF-8 are 400: no replacement characters are stored', async () => {
    const send = (copy: Buffer) =>
      world.raw('POST', '/posts', Buffer.concat([Buffer.from(`{"brandId":"${world.brandId}","platform":"x","copy":"`), copy, Buffer.from('"}')]))
    expect((await send(Buffer.from('Gr\xfc\xdfe', 'latin1'))).json).toMatchObject({ status: 400, detail: 'The body is not valid UTF-8.' })
    expect((await send(Buffer.from('Grüße'))).json).toMatchObject({ copy: 'Grüße' })
  })

  test('are ignored where none is expected, whatever their type', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const { id } = await world.write()
      expect((await world.ask('owner', 'DELETE', `/posts/${id}`, undefined, { 'content-type': type })).status, type).toBe(204)
    }
  })
})
