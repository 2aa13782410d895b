import { describe, expect, it } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { eventsOf, signatureOf } from './stage.ts'

const open = async () => {
  const graph = await supergraph()
  return Object.assign(graph, { ...eventsOf(graph), stored: () => graph.rows('select id from payments.webhook_events') })
}
const stranger = { id: 'pi_strange', object: 'payment_intent', status: 'succeeded', metadata: {} }

describe('an event of the processor', () => {
  it('is stored and answered, and as a duplicate the second time', async () => {
    await using graph = await open()
    const event = graph.event('payment_intent.succeeded', stranger)
    const answers = await Promise.all(Array.from({ length: 10 }, async () => (await graph.deliver(event)).json()))
    expect(answers.map(({ received }) => received)).toEqual(Array(10).fill(true))
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await graph.stored()).toHaveLength(1)
  })

  it('is stored without the secret of the payer’s browser', async () => {
    await using graph = await open()
    await graph.deliver(graph.event('payment_intent.succeeded', { ...stranger, client_secret: 'pi_strange_secret_1' }))
    const [row] = await graph.rows<{ payload: object }>('select payload from payments.webhook_events')
    expect(row!.payload).toMatchObject({ data: { object: { id: 'pi_strange' } } })
    expect(JSON.stringify(row)).not.toContain('secret')
  })

  it('counts with any of several signatures', async () => {
    await using graph = await open()
    const event = graph.event('payment_intent.succeeded', stranger)
    const good = signatureOf(JSON.stringify(event), graph.clock.now())
    const answer = await graph.deliver(event, { signature: good.replace(',v1=', `,v0=00,v1=${'0'.repeat(64)},v1=`) })
    expect(answer.status).toBe(200)
  })

  it.each([
    ['no signature', () => null],
    ['nonsense for one', () => 'v1'],
    ['a signature of another secret', (body: string, now: Date) => signatureOf(body, now, 'whsec_of_somebody_else')],
    ['a signature of another body', (body: string, now: Date) => signatureOf(`${body} `, now)],
    ['an old signature', (body: string, now: Date) => signatureOf(body, new Date(now.getTime() - 301_000))],
    ['a signature of the future', (body: string, now: Date) => signatureOf(body, new Date(now.getTime() + 301_000))],
  ])('is refused with %s, and not stored', async (_, sign) => {
    await using graph = await open()
    const event = graph.event('payment_intent.succeeded', stranger)
    const signature = sign(JSON.stringify(event), graph.clock.now())
    await expect(graph.deliver(event, { signature })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await graph.stored()).toEqual([])
  })

  it.each([
    '[]',
    'null',
    '"evt_1"',
    '{',
    '{"id":"evt_1","type":"x","created":1}',
    '{"id":"evt_1","type":"x","created":"now","data":{"object":{"id":"pi_1"}}}',
  ])('is refused as %s, though it is signed', async text => {
    await using graph = await open()
    await expect(graph.deliver({}, { text })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await graph.stored()).toEqual([])
  })

  it.each([
    ['NOT_OURS', { type: 'payment_intent.succeeded' }],
    ['UNHANDLED_TYPE', { type: 'product.created' }],
    ['MODE', { type: 'payment_intent.succeeded', livemode: true }],
  ])('is IGNORED with the reason %s', async (reason, more) => {
    await using graph = await open()
    expect(await graph.take(graph.event('', stranger, more))).toMatchObject({ status: 'IGNORED', reason, organization_id: null, attempts: 1 })
  })
})

describe('an event of nobody here', () => {
  it('is seen by whoever looks after the platform, and by no other organization', async () => {
    await using graph = await open()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const event = graph.event('payment_intent.succeeded', stranger)
    await graph.take(event)
    const query = 'query($id: String) { webhookEvents(processorEventId: $id) { nodes { status reason } } }'
    const seen = async (as: typeof owner) => (await graph.execute(query, { id: event.id }, { as })).data().webhookEvents.nodes
    expect(await seen(owner)).toEqual([])
    expect(await seen({ ...outsider, roles: ['platform_super_admin'] })).toEqual([{ status: 'IGNORED', reason: 'NOT_OURS' }])
  })
})
