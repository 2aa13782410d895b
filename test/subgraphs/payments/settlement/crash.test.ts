import { expect, it } from 'vitest'
import { dies } from '../../../kit/dies.ts'
import { batchOf, openSettlement } from './stage.ts'

// At each point some transfers of the batch are over, some are under way, and some have not begun.
it.each([
  'batch-submitted',
  'batch-taken',
  'transfer-taken',
  'transfer-answered',
  'transfer-recorded',
  'callback-settled',
])('a batch whose process died at %s is paid out once, and told of in order', async point => {
  await using at = await openSettlement()
  const amounts = [100, 200, 300, 400, 500, 600, 700]
  const batch = batchOf(amounts)
  const { underway } = at.shop.graph.platform.payments.job('test')
  await dies(point, async () => {
    const answer = await at.submit(batch)
    // What the batch is worked on with outlives the request, and what it dies of is logged.
    await underway.ended(20_000)
    if (answer.error) throw new Error('power failure')
  })
  const again = (await at.submit(batch)).data().submitSettlementBatch
  const end = await at.settled(again.id, 'SETTLED')
  expect(end).toMatchObject({ settledTotal: { amountMinor: 2_800 }, reversedTotal: { amountMinor: 0 } })
  const moved = await at.moved(again.id)
  expect(moved).toHaveLength(amounts.length)
  expect(new Set(moved.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(amounts.length)
  const sums = await at.shop.graph.rows<{ account: string; sum: number }>(
    `select account, sum(amount_minor)::int as sum from payments.ledger_entries where settlement_batch_id = $1 and account = 'processor' group by 1`,
    [again.id],
  )
  expect(sums).toEqual([{ account: 'processor', sum: -2_800 }])
  const told = (await at.told(batch.externalBatchId)).map(({ id, body }) => [body.data.sequence, id] as const)
  expect([...new Set(told.map(([sequence]) => sequence))], 'each status, in its order').toEqual([1, 2, 3])
  expect(new Set(told.map(([, id]) => id)).size, 'a callback that is sent again keeps its id').toBe(3)
  expect(told).toEqual(told.toSorted(([one], [other]) => one - other))
})
