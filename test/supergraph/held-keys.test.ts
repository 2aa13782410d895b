import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { createOrder } from '../subgraphs/payments/documents.ts'
import { seedProcessor } from '../subgraphs/payments/payment/seed.ts'

const password = 'correct horse battery'
const payOrder = 'mutation ($input: PayOrderInput!) { payOrder(input: $input) { id status } }'
const card = { paymentMethodToken: 'pm_card_visa' }

let graph: Supergraph
let door: Door
let owner: Record<string, string>

beforeAll(async () => {
  graph = await supergraph({ sandbox: true, now: new Date().toISOString() })
  door = await openDoor(graph)
  const { organizations } = await graph.platform.identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Olivia' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  await seedProcessor(graph, { organizationId: organizations.acme! })
  owner = await door.signIn('owner@test.test', password)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const graphql = async (query: string, input: object) => (await door.ask('POST', '/graphql', { headers: owner, body: { query, variables: { input } } })).json

let orderId: string
beforeEach(async () => {
  const lines = [{ name: 'Ticket', unitAmountMinor: 1_000 }]
  orderId = (await graphql(createOrder, { currency: 'EUR', lines })).data.createOrder.id
})

/** Pays the order over REST. */
const pay = (key: string, body: object = card) =>
  door.ask('POST', `/payments/api/orders/${orderId}/pay`, { headers: { ...owner, 'idempotency-key': key }, body })

/** Makes a process hold a key as one does that is at work with it, for as many ms. */
const hold = (key: string, ms: number) =>
  graph.rows(`update payments.idempotency_keys set holder = $2, held_until = $3 where key = $1`, [
    key,
    randomUUID(),
    new Date(graph.clock.now().getTime() + ms),
  ])

const payments = () => graph.rows('select status from payments.transactions where order_id = $1', [orderId])

describe('a key that a process holds', () => {
  it('answers a repetition with 409, reason IN_PROGRESS and the time to wait, over REST and GraphQL', async () => {
    const key = randomUUID()
    expect((await pay(key)).json).toMatchObject({ status: 'paid' })
    await hold(key, 600_000)
    const [rest, graph] = await Promise.all([pay(key), graphql(payOrder, { orderId, ...card, idempotencyKey: key })])
    expect([rest.status, rest.headers['retry-after'], rest.json]).toMatchObject([
      409,
      '2',
      { code: 'CONFLICT', reason: 'IN_PROGRESS', field: 'Idempotency-Key' },
    ])
    expect(graph.errors).toMatchObject([{ path: ['payOrder'], extensions: { code: 'CONFLICT', reason: 'IN_PROGRESS', retryAfter: 2 } }])
    expect(await payments()).toHaveLength(1)
  })

  it('refuses other content at once with KEY_REUSED', async () => {
    const key = randomUUID()
    await pay(key)
    await hold(key, 600_000)
    const other = await pay(key, { paymentMethodToken: 'pm_card_mastercard' })
    expect([other.status, other.json]).toMatchObject([409, { code: 'CONFLICT', reason: 'KEY_REUSED' }])
  })

  it('is taken over once the hold is past, and pays no second time', async () => {
    const key = randomUUID()
    const first = await pay(key)
    await hold(key, -1)
    const resumed = await pay(key)
    expect([resumed.status, resumed.json.id, resumed.json.status]).toEqual([200, first.json.id, 'paid'])
    const again = await pay(key)
    expect([again.status, again.headers['idempotent-replayed'], again.json.status]).toEqual([200, 'true', 'paid'])
    expect(await payments()).toEqual([{ status: 'SUCCEEDED' }])
  })
})
