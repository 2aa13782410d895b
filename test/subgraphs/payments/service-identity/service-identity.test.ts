import { expect, test } from 'vitest'
import { createBoundClock } from '../../../../platform/clock.ts'
import { serviceIdentity } from '../../../../subgraphs/payments/http/service-identity.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { openDoor } from '../../../kit/door.ts'
import { supergraph } from '../../../kit/supergraph.ts'

const addresses = { auth: 'https://a.test', gateway: 'https://g.test', app: 'https://p.test' }

test('Y-04 whoever asks, signed in or not, is told the id that the registry has, the environment and the addresses', async () => {
  await using graph = await supergraph()
  await using door = await openDoor(graph)
  const { owner } = await graph.seed.owner()
  const { id } = (await graph.execute('{ service(slug: "payments") { id } }', {}, { as: owner })).data().service
  const answer = await door.ask('GET', '/payments/api/service-identity')
  expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'public, max-age=60' } })
  const at = { auth: 'http://localhost:4000', gateway: 'http://localhost:4000', app: 'http://payments.localhost:4000' }
  expect(answer.json).toEqual({ serviceId: id, slug: 'payments', appId: 'app_payments', environment: 'development', addresses: at })
  expect(await door.ask('GET', '/payments/api/other')).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
})

test('the id is asked for once a minute; while the registry does not answer, what is remembered holds, and without it that is an outage', async () => {
  const clock = createBoundClock(new Date('2027-03-01T00:00:00Z'))
  let registry: { id: string } | null | Error = new Error('away')
  let asked = 0
  const ask = async () => {
    asked += 1
    if (registry instanceof Error) throw registry
    return { service: registry }
  }
  const identity = serviceIdentity(ask as never, clock, 'staging', addresses)
  await expect(identity(anonymous)).rejects.toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
  registry = null
  await expect(identity(anonymous)).rejects.toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
  registry = { id: '1' }
  expect(await identity(anonymous)).toMatchObject({ serviceId: '1', environment: 'staging', addresses })
  registry = new Error('away')
  clock.advance(59_999)
  expect(await identity(anonymous)).toMatchObject({ serviceId: '1' })
  expect(asked).toBe(3)
  clock.advance(1)
  await expect(identity(anonymous)).rejects.toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
})

test('whoever asks while the id is being asked for waits for the same answer', async () => {
  const clock = createBoundClock(new Date('2027-03-01T00:00:00Z'))
  const registry = Promise.withResolvers<{ service: { id: string } }>()
  let asked = 0
  const ask = () => {
    asked += 1
    return registry.promise
  }
  const identity = serviceIdentity(ask as never, clock, 'staging', addresses)
  const answers = [identity(anonymous), identity(anonymous), identity(anonymous)]
  registry.resolve({ service: { id: '1' } })
  expect([(await Promise.all(answers)).map(({ serviceId }) => serviceId), asked]).toEqual([['1', '1', '1'], 1])
})
