import { describe, expect, it } from 'vitest'
import { settlementSweep } from '../../../../subgraphs/payments/engines/settlement/run.ts'
import { eventsOf } from '../events/stage.ts'
import { batchOf, openSettlement, type Settlement } from './stage.ts'

async function open() {
  const at = await openSettlement()
  const events = eventsOf(at.shop.graph)
  const eventOf = async (type: string) => (await events.made()).find(event => event.type === type)!
  return Object.assign(at, { events, eventOf })
}

const reconciliation = `query($from: DateTime!, $to: DateTime!) { paymentReconciliation(from: $from, to: $to) {
  matched differences { kind transactionId ours theirs } } }`

async function reconcile({ shop }: Settlement) {
  const now = shop.graph.clock.now().getTime()
  const span = { from: new Date(now - 3_600_000), to: new Date(now + 3_600_000) }
  return (await shop.graph.execute(reconciliation, span, { as: shop.owner })).data().paymentReconciliation
}

const idsOf = async ({ shop }: Settlement, type: string) =>
  (await shop.graph.rows<{ id: string }>('select id from payments.transactions where type = $1 order by amount_minor', [type])).map(({ id }) => id)

/** A batch of one line whose transfer was made, and whose answer was lost. */
async function lost(at: Settlement): Promise<string> {
  await at.shop.arm('status-after-accept', { status: 503 })
  const { id } = (await at.submit(batchOf([300]))).data().submitSettlementBatch
  await expect.poll(async () => (await at.read(id)).lines.nodes[0].status).toBe('UNKNOWN')
  return id
}

describe('a transfer whose answer is lost', () => {
  it('is settled once by its event, by whose line it names, and the repeated call changes nothing', async () => {
    await using at = await open()
    const id = await lost(at)
    expect((await reconcile(at)).differences).toEqual([
      { kind: 'STATUS', transactionId: (await idsOf(at, 'TRANSFER'))[0], ours: 'UNKNOWN', theirs: 'SUCCEEDED' },
    ])
    const event = await at.eventOf('transfer.created')
    expect(await at.events.take(event)).toMatchObject({ status: 'PROCESSED', organization_id: at.shop.organizationId, order_id: null })
    expect(await at.read(id)).toMatchObject({ status: 'SETTLED', settledTotal: { amountMinor: 300 }, lines: { nodes: [{ transferId: event.data.object.id }] } })
    await at.shop.graph.clock.advance(60_000)
    await settlementSweep(() => at.shop.graph.platform.payments.job('test')).run()
    expect(await at.events.take({ ...event, id: 'evt_again' })).toMatchObject({ status: 'PROCESSED' })
    expect(await at.moved(id)).toHaveLength(1)
    expect((await at.settled(id, 'SETTLED')).settledTotal.amountMinor).toBe(300)
    expect(await reconcile(at)).toEqual({ matched: 1, differences: [] })
  })

  it('is ended by a person’s word, which settles its line and its batch, and is needed with the processor’s name', async () => {
    await using at = await open()
    await at.shop.arm('status', { status: 500 })
    const { id } = (await at.submit(batchOf([300]))).data().submitSettlementBatch
    await expect.poll(async () => (await at.read(id)).lines.nodes[0].status).toBe('UNKNOWN')
    const [transferId] = await idsOf(at, 'TRANSFER')
    const resolve = (more: object) => at.shop.ask('resolveTransaction', { id: transferId, ...more }, at.shop.owner, 'id status settlementBatchId orderId')
    expect((await resolve({ outcome: 'SUCCEEDED' })).refused('BAD_USER_INPUT').extensions.field).toBe('processorId')
    const said = { outcome: 'SUCCEEDED', processorId: 'tr_seen_there', note: 'looked it up' }
    const answers = await Promise.all(Array.from({ length: 5 }, () => resolve(said)))
    expect(answers.filter(({ error }) => !error).map(answer => answer.data().resolveTransaction)).toEqual([
      { id: transferId, status: 'SUCCEEDED', settlementBatchId: id, orderId: null },
    ])
    for (const { error } of answers) if (error) expect(error.extensions).toMatchObject({ code: 'CONFLICT', reason: 'ILLEGAL_MOVE', from: 'SUCCEEDED' })
    expect(await at.settled(id, 'SETTLED')).toMatchObject({ lines: { nodes: [{ status: 'SETTLED', transferId: 'tr_seen_there' }] } })
    expect((await at.shop.facts()).map(({ kind }) => kind)).toEqual(['attention.opened', 'attention.closed'])
    // The processor knows nothing of it: that is a difference.
    expect((await reconcile(at)).differences).toEqual([{ kind: 'MISSING_THERE', transactionId: transferId, ours: 'SUCCEEDED 300 EUR', theirs: null }])
  })

  it('fails by a person’s word, and its batch with it', async () => {
    await using at = await open()
    const id = await lost(at)
    const [transferId] = await idsOf(at, 'TRANSFER')
    await at.shop.change('resolveTransaction', { id: transferId, outcome: 'FAILED' }, at.shop.owner, 'id')
    expect(await at.settled(id, 'FAILED')).toMatchObject({ settledTotal: { amountMinor: 0 }, lines: { nodes: [{ status: 'FAILED' }] } })
    await at.events.take(await at.eventOf('transfer.created'))
    expect((await at.read(id)).status).toBe('FAILED')
    expect(at.shop.graph.log.filter(line => line.includes('carried out a transfer that is recorded as failed'))).toEqual([expect.stringContaining(transferId!)])
    expect((await reconcile(at)).differences).toMatchObject([{ kind: 'STATUS', ours: 'FAILED', theirs: 'SUCCEEDED' }])
  })
})

describe('a transfer that is taken back', () => {
  it('at the processor itself is reversed here, told of, and booked back once', async () => {
    await using at = await open()
    const batch = batchOf([300, 400])
    const { id } = (await at.submit(batch)).data().submitSettlementBatch
    const [first] = (await at.settled(id, 'SETTLED')).lines.nodes
    await at.shop.pass(2_000)
    await at.events.act(`/transfers/${first.transferId}/reversals`, {})
    const event = await at.eventOf('transfer.reversed')
    expect(await at.events.take(event)).toMatchObject({ status: 'PROCESSED' })
    expect(await at.events.take({ ...event, id: 'evt_again' })).toMatchObject({ status: 'PROCESSED' })
    expect(await at.settled(id, 'PARTIALLY_REVERSED')).toMatchObject({
      reversedTotal: { amountMinor: 300 },
      lines: { nodes: [{ status: 'REVERSED' }, { status: 'SETTLED' }] },
    })
    expect((await at.told(batch.externalBatchId)).map(({ body }) => body.data.status)).toEqual([
      ...['received', 'processing', 'settled', 'reversing', 'partially_reversed'],
    ])
    const sums = await at.shop.graph.rows(
      `select account, sum(amount_minor)::int as sum from payments.ledger_entries where settlement_batch_id = $1 group by 1 order by 1`,
      [id],
    )
    expect(sums).toEqual([
      { account: 'payer:org-0', sum: 0 },
      { account: 'payer:org-1', sum: 400 },
      { account: 'processor', sum: -400 },
    ])
    expect(await reconcile(at)).toMatchObject({ differences: [] })
  })

  it('by us, with an answer that is lost, is reversed once by its event', async () => {
    await using at = await open()
    const { id } = (await at.submit(batchOf([300]))).data().submitSettlementBatch
    await at.settled(id, 'SETTLED')
    await at.shop.pass(2_000)
    await at.shop.arm('status-after-accept', { status: 503 })
    await at.shop.ask('reverseSettlementBatch', { id }, at.service, 'status')
    await expect.poll(async () => (await at.shop.graph.rows(`select id from payments.transactions where status = 'UNKNOWN'`)).length).toBe(1)
    expect((await reconcile(at)).differences).toEqual([
      { kind: 'STATUS', transactionId: (await idsOf(at, 'TRANSFER_REVERSAL'))[0], ours: 'UNKNOWN', theirs: 'SUCCEEDED' },
    ])
    await at.events.take(await at.eventOf('transfer.reversed'))
    expect(await at.settled(id, 'REVERSED')).toMatchObject({ reversedTotal: { amountMinor: 300 } })
    expect(await reconcile(at)).toMatchObject({ differences: [] })
  })

  it('in part, which nothing here does, changes nothing and is logged', async () => {
    await using at = await open()
    const { id } = (await at.submit(batchOf([300]))).data().submitSettlementBatch
    const [line] = (await at.settled(id, 'SETTLED')).lines.nodes
    await at.shop.pass(2_000)
    await at.events.act(`/transfers/${line.transferId}/reversals`, { amount: '100' })
    expect(await at.events.take(await at.eventOf('transfer.reversed'))).toMatchObject({ status: 'PROCESSED' })
    expect(await at.read(id)).toMatchObject({ status: 'SETTLED', reversedTotal: { amountMinor: 0 } })
    expect(at.shop.graph.log.filter(text => text.includes('a part of a transfer was taken back'))).toHaveLength(1)
    expect((await reconcile(at)).differences).toMatchObject([{ kind: 'MISSING_HERE', theirs: 'SUCCEEDED 100 EUR' }])
  })
})

it('a transfer of somebody else is none of ours', async () => {
  await using at = await open()
  await at.events.act('/transfers', { amount: '100', currency: 'eur', destination: 'acct_demo' })
  expect(await at.events.take(await at.eventOf('transfer.created'))).toMatchObject({ status: 'IGNORED', reason: 'NOT_OURS' })
})
