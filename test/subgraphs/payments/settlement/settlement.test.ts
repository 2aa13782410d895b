import { describe, expect, it } from 'vitest'
import { contentHashOf } from '../../../../subgraphs/payments/engines/settlement/rules.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { batchOf, openSettlement, settlementService } from './stage.ts'

const hashOf = (batch: ReturnType<typeof batchOf>) =>
  contentHashOf(
    'EUR',
    batch.lines.map(line => ({ ...line, amountMinor: BigInt(line.amountMinor) })),
  )

describe('submitSettlementBatch', () => {
  it('pays every line out by one transfer, books it, and tells each status in order', async () => {
    await using at = await openSettlement()
    const batch = batchOf([1200, 3400])
    const { id } = (await at.submit({ ...batch, contentHash: hashOf(batch) })).data().submitSettlementBatch
    const end = await at.settled(id, 'SETTLED')
    expect(end).toMatchObject({ contentHash: hashOf(batch), settledTotal: { amountMinor: 4600 }, reversedTotal: { amountMinor: 0 } })
    expect(end.lines.nodes.map(({ lineId, status }: never) => [lineId, status])).toEqual(batch.lines.map(({ lineId }) => [lineId, 'SETTLED']))
    const told = await at.told(batch.externalBatchId)
    expect(told.map(({ body }) => [body.type, body.data.sequence])).toEqual([
      ['settlement_batch.received', 1],
      ['settlement_batch.processing', 2],
      ['settlement_batch.settled', 3],
    ])
    expect(told[2].body.data).toMatchObject({ settledTotalMinor: 4600, status: 'settled', lines: [{ status: 'settled' }, { status: 'settled' }] })
    expect(await at.moved(id)).toHaveLength(2)
    const entries = await at.shop.graph.rows<{ account: string; sum: number }>(
      'select account, sum(amount_minor)::int as sum from payments.ledger_entries where settlement_batch_id = $1 group by 1 order by 1',
      [id],
    )
    expect(entries).toEqual([
      { account: 'payer:org-0', sum: 1200 },
      { account: 'payer:org-1', sum: 3400 },
      { account: 'processor', sum: -4600 },
    ])
  })

  it('makes one batch of fifty submissions at once', async () => {
    await using at = await openSettlement()
    const batch = batchOf([700, 800, 900])
    const answers = await Promise.all(Array.from({ length: 50 }, () => at.submit(batch)))
    const ids = new Set(answers.map(answer => answer.data().submitSettlementBatch.id))
    expect(ids.size).toBe(1)
    const [id] = ids
    await at.settled(id!, 'SETTLED')
    expect(await at.moved(id!)).toHaveLength(3)
    const changed = { ...batch, lines: batch.lines.map((line, n) => ({ ...line, amountMinor: line.amountMinor + [1, -1, 0][n]! })) }
    expect((await at.submit(changed)).refused('CONFLICT').extensions.reason).toBe('BATCH_CHANGED')
    expect((await at.submit({ ...batch, externalBatchId: 'another' })).refused('CONFLICT').extensions.reason).toBe('DUPLICATE_CONTENT')
    await at.shop.graph.rows(`update payments.settlement_batches set created_at = created_at - interval '24 hours 1 second'`)
    expect((await at.submit({ ...batch, externalBatchId: 'another' })).data().submitSettlementBatch.externalBatchId).toBe('another')
  })

  it('refuses what contradicts itself, and keeps nothing', async () => {
    await using at = await openSettlement()
    const batch = batchOf([100, 200])
    const [first, second] = batch.lines
    const wrong = {
      CONTROL_TOTAL: { controlTotalMinor: 301 },
      LINE_COUNT: { lineCount: 3 },
      DUPLICATE_LINE: { lines: [first, { ...second, lineId: first!.lineId }] },
      SAME_PARTY: { lines: [first, { ...second, payer: second!.payee }] },
      CONTENT_HASH: { contentHash: '0'.repeat(64) },
    }
    for (const [reason, more] of Object.entries(wrong))
      expect((await at.submit({ ...batch, ...more })).refused('BAD_USER_INPUT').extensions.reason, reason).toBe(reason)
    expect((await at.submit({ ...batch, lines: [] })).refused('BAD_USER_INPUT').extensions.field).toBe('lines')
    expect((await at.submit({ ...batch, lines: [first, { ...second, amountMinor: 0 }] })).refused('BAD_USER_INPUT').extensions.field).toBe(
      'lines[1].amountMinor',
    )
    expect(await at.shop.graph.rows('select id from payments.settlement_batches')).toEqual([])
    expect(await at.told(batch.externalBatchId)).toEqual([])
  })

  it('is refused with NOT_CONFIGURED while no callback address is set, and stores and books nothing', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const submit = 'mutation($input: SubmitSettlementBatchInput!) { submitSettlementBatch(input: $input) { id } }'
    const refusal = await graph.execute(submit, { input: batchOf([100, 200]) }, { as: settlementService(organization.id) })
    const { message, extensions } = refusal.refused('CONFLICT')
    expect(extensions.reason).toBe('NOT_CONFIGURED')
    expect(message).toContain('SETTLEMENT_CALLBACK_URL')
    for (const table of ['settlement_batches', 'settlement_lines', 'settlement_callbacks', 'transactions', 'ledger_entries'])
      expect(await graph.rows(`select id from payments.${table}`), table).toEqual([])
  })

  it('takes batches of the settlement service alone, for an organization', async () => {
    await using at = await openSettlement()
    const other = { ...at.service, appId: 'app_support' }
    ;(await at.submit(batchOf([1]), other)).refused('FORBIDDEN')
    ;(await at.submit(batchOf([1]), at.shop.owner)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect((await at.submit(batchOf([1]), settlementService(null))).refused('BAD_USER_INPUT').extensions.field).toBe('X-Organization-Id')
  })
})

describe('a settlement batch', () => {
  it('is settled in part where the processor refuses a line, and turned back once', async () => {
    await using at = await openSettlement()
    const batch = batchOf([1000, 2000])
    batch.lines[1]!.payee = 'acct_nobody000000'
    const { id } = (await at.submit(batch)).data().submitSettlementBatch
    const end = await at.settled(id, 'PARTIALLY_SETTLED')
    expect(end).toMatchObject({
      settledTotal: { amountMinor: 1000 },
      lines: {
        nodes: [
          { status: 'SETTLED', failure: null },
          { status: 'FAILED', failure: { code: 'ACCOUNT_UNKNOWN' } },
        ],
      },
    })
    const reverse = (input: object) => at.shop.ask('reverseSettlementBatch', { id, ...input }, at.service, 'status')
    const other = await at.shop.graph.seed.owner()
    const elsewhere = await at.shop.ask('reverseSettlementBatch', { id }, settlementService(other.organization.id), 'status')
    elsewhere.refused('NOT_FOUND')
    expect((await reverse({ lineIds: ['nobody'] })).refused('BAD_USER_INPUT').extensions.field).toBe('lineIds')
    expect((await reverse({ lineIds: [batch.lines[1]!.lineId] })).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    expect((await reverse({})).data().reverseSettlementBatch.status).toBe('REVERSING')
    expect((await reverse({})).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
    expect(await at.settled(id, 'REVERSED')).toMatchObject({ reversedTotal: { amountMinor: 1000 }, settledTotal: { amountMinor: 1000 } })
    expect((await at.told(batch.externalBatchId)).map(({ body }) => body.data.status)).toEqual([
      ...['received', 'processing', 'partially_settled', 'reversing', 'reversed'],
    ])
    const [sum] = await at.shop.graph.rows<{ sum: number }>(
      `select sum(amount_minor)::int as sum from payments.ledger_entries where settlement_batch_id = $1 and account = 'processor'`,
      [id],
    )
    expect(sum!.sum).toBe(0)
  })

  it('waits where nobody knows what became of a transfer, and repeats it under the same key', async () => {
    await using at = await openSettlement()
    await at.shop.arm('status-after-accept', { status: 503 })
    const { id } = (await at.submit(batchOf([300]))).data().submitSettlementBatch
    await expect.poll(async () => (await at.read(id)).lines.nodes[0].status).toBe('UNKNOWN')
    expect((await at.shop.facts()).map(({ body }) => body.kind)).toContain('PAYMENT_UNKNOWN')
    await at.settled(id, 'SETTLED')
    expect(new Set((await at.moved(id)).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    const [sum] = await at.shop.graph.rows<{ sum: number }>(`select sum(amount_minor)::int as sum from payments.ledger_entries where account = 'processor'`)
    expect(sum!.sum).toBe(-300)
  })
})

describe('a settlement callback', () => {
  it('is sent again under its id, holds up the later ones, and once more by a person', async () => {
    await using at = await openSettlement()
    await fetch(`${at.shop.graph.x.origin}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: 'settlement', fault: 'status', status: 500, times: 1 }),
    })
    const batch = batchOf([300])
    const { id } = (await at.submit(batch)).data().submitSettlementBatch
    const end = await at.settled(id, 'SETTLED')
    expect((await at.told(batch.externalBatchId)).map(({ body }) => body.data.sequence)).toEqual([1, 2, 3])
    const [first] = end.callbacks
    expect(first.attempts).toEqual([
      { status: 500, error: 'It was answered 500.' },
      { status: 204, error: null },
    ])
    await at.shop.change('resendSettlementCallback', { id: first.id }, at.shop.owner, 'id')
    expect((await at.told(batch.externalBatchId)).map(({ id: sent, body }) => [sent === first.id, body.data.sequence])).toEqual([
      [true, 1],
      [false, 2],
      [false, 3],
      [true, 1],
    ])
  })

  it('is given up after the last try, tells managers, and lets the next go on', async () => {
    await using at = await openSettlement()
    await fetch(`${at.shop.graph.x.origin}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: 'settlement', fault: 'status', status: 500, times: 2 }),
    })
    const batch = batchOf([300])
    const { id } = (await at.submit(batch)).data().submitSettlementBatch
    await expect.poll(async () => (await at.read(id)).callbacks[0].attempts.length).toBe(1)
    // The last try of the schedule, now.
    await at.shop.graph.rows('update payments.settlement_callbacks set attempts = 9, next_attempt_at = $1 where attempts = 1', [at.shop.graph.clock.now()])
    const end = await at.settled(id, 'SETTLED')
    expect(end.callbacks.map(({ status }: { status: string }) => status)).toEqual(['DEAD', 'DELIVERED', 'DELIVERED'])
    const dead = (await at.shop.facts()).filter(({ body }) => body.kind === 'CALLBACK_DEAD')
    expect(dead).toHaveLength(1)
    await at.shop.change('resendSettlementCallback', { id: end.callbacks[0].id }, at.shop.owner, 'id')
    expect((await at.read(id)).callbacks[0].status).toBe('DELIVERED')
    expect((await at.shop.facts()).at(-1)).toMatchObject({ kind: 'attention.closed', body: { key: dead[0]!.body.key } })
  })
})
