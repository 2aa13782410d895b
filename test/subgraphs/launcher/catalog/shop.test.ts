import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { steer } from './seed.ts'

const password = 'correct horse battery'
const email = 'owner@acme.test'
const orders = '/launcher/api/commerce/orders'
const stack = new AsyncDisposableStack()

async function open(catalogue: boolean): Promise<{ graph: Supergraph; door: Door; authorization: string; organizationId: string }> {
  const graph = stack.use(await supergraph({ now: new Date().toISOString(), sandbox: true, catalogue }))
  const door = stack.use(await openDoor(graph))
  const { organizations } = await graph.platform.identity.provision({
    password,
    people: [{ email, name: 'Owner' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email, roles: ['owner'] }] }],
    keys: [],
  } as never)
  return { graph, door, ...(await door.signIn(email, password)), organizationId: organizations.acme! }
}

let at: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  at = await open(true)
})
afterAll(() => stack.disposeAsync())

const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  at.door.ask(method, path, { headers: { authorization: at.authorization, ...headers }, ...(body !== undefined && { body }) })
const last = async (): Promise<{ status: number; headerNames: string[] }> =>
  (await steer<{ path: string; status: number; headerNames: string[] }[]>(at.graph, 'requests?network=developers')).findLast(({ path }) =>
    path.includes('/api/commerce/'),
  )!

describe('the shop of the developer platform', () => {
  it('hears for whom it is asked, and nothing of the way by which the request came', async () => {
    const edge = { cookie: 'session=secret', 'x-forwarded-for': '203.0.113.9', via: '1.1 edge', 'cf-ray': 'abc', 'accept-language': 'de' }
    const answer = await ask('GET', orders, edge)
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' }, json: { orders: [], organizationId: at.organizationId } })
    const { headerNames } = await last()
    expect(headerNames).toEqual(expect.arrayContaining(['authorization', 'accept-language']))
    expect(headerNames.filter(name => name in edge && name !== 'accept-language')).toEqual([])
  })

  it('gets the body of a request, and its own refusals are answered as they are', async () => {
    expect(await ask('POST', orders, {}, { item: 'a' })).toMatchObject({ status: 201, json: { bytes: 12 } })
    expect((await ask('GET', '/launcher/api/commerce/nothing')).status).toBe(404)
    expect((await ask('PUT', orders, {}, {})).status).toBe(404)
  })

  it('is asked below its own path alone', async () => {
    expect((await ask('GET', '/launcher/api/commerce/../catalogue')).status).toBe(404)
    expect((await ask('GET', '/launcher/api/commerce/%2e%2e/catalogue')).status).toBe(404)
  })

  it('refuses whoever is not signed in', async () => {
    expect((await at.door.ask('GET', orders)).status).toBe(401)
  })

  it('answers 502 when the developer platform cuts the connection', async () => {
    await steer(at.graph, 'faults', { network: 'developers', fault: 'accept-then-reset', times: 1, path: '/api/commerce' })
    expect((await ask('GET', orders)).status).toBe(502)
    expect((await ask('GET', orders)).status).toBe(200)
  })

  it('is CONFLICT, reason NOT_CONFIGURED, where there is no developer platform', async () => {
    const { door, authorization } = await open(false)
    expect(await door.ask('GET', orders, { headers: { authorization } })).toMatchObject({ status: 409, json: { reason: 'NOT_CONFIGURED' } })
  })
})
