import { describe, expect, it } from 'vitest'
import { seedCredential } from '../../providers/credential/seed.ts'
import { openShop, type Shop } from '../payment/stage.ts'

const ask = `query($from: DateTime!, $to: DateTime!) { paymentReconciliation(from: $from, to: $to) {
  checkedAt matched differences { kind transactionId processorId ours theirs } } }`

async function reconcile({ graph, owner }: Shop, as = owner) {
  const now = graph.clock.now().getTime()
  const span = { from: new Date(now - 3_600_000), to: new Date(now + 3_600_000) }
  return (await graph.execute(ask, span, { as })).data().paymentReconciliation
}

describe('paymentReconciliation', () => {
  it('finds nothing where payments, holds, releases, declines and refunds are alike on both sides', async () => {
    await using shop = await openShop()
    const paid = await shop.paid(2500)
    await shop.change('refundOrder', { orderId: paid.id, amountMinor: 700, reason: 'OTHER' }, shop.owner, 'status')
    const [held, taken, released, declined] = [await shop.order(), await shop.order(), await shop.order(), await shop.order()]
    for (const { id } of [held, taken, released]) await shop.pay(id, { capture: false })
    await shop.change('captureOrder', { orderId: taken.id, amountMinor: 400 })
    await shop.change('voidOrder', { orderId: released.id })
    await shop.pay(declined.id, { paymentMethodToken: 'pm_card_chargeDeclined' })
    expect(await reconcile(shop)).toMatchObject({ matched: 6, differences: [] })
  })

  it('finds a charge only at the processor, one only here, another amount and another state', async () => {
    await using shop = await openShop()
    const orders = [await shop.paid(1000), await shop.paid(2000), await shop.paid(3000), await shop.paid(4000)]
    const [first, second, third, fourth] = orders.map(({ transactions }) => transactions.nodes[0]) as [Transaction, Transaction, Transaction, Transaction]
    const change = (sql: string, { id }: Transaction) => shop.graph.rows(`update payments.transactions set ${sql} where id = $1`, [id])
    await change(`processor_id = 'pi_never_made', id = '018f0000-0000-7000-8000-000000000001'`, first)
    await change('amount_minor = 1999', second)
    await change(`status = 'FAILED', failure_code = 'DECLINED'`, third)
    const { matched, differences } = await reconcile(shop)
    expect(matched).toBe(1)
    expect(differences.map(({ transactionId }: { transactionId: string }) => transactionId)).not.toContain(fourth.id)
    expect(new Set(differences)).toEqual(
      new Set([
        { kind: 'MISSING_HERE', transactionId: null, processorId: first.processorId, ours: null, theirs: 'SUCCEEDED 1000 EUR' },
        {
          ...{ kind: 'MISSING_THERE', transactionId: '018f0000-0000-7000-8000-000000000001', processorId: 'pi_never_made' },
          ...{ ours: 'SUCCEEDED 1000 EUR', theirs: null },
        },
        { kind: 'AMOUNT', transactionId: second.id, processorId: second.processorId, ours: '1999 EUR', theirs: '2000 EUR' },
        { kind: 'STATUS', transactionId: third.id, processorId: third.processorId, ours: 'FAILED', theirs: 'SUCCEEDED' },
      ]),
    )
  })

  it('recognizes a payment whose outcome nobody knows by the transaction that was sent along', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    await shop.arm('status-after-accept', { status: 503 })
    const { transactions } = await shop.pay(id)
    expect((await reconcile(shop)).differences).toEqual([
      { kind: 'STATUS', transactionId: transactions.nodes[0].id, processorId: expect.stringMatching(/^pi_/), ours: 'UNKNOWN', theirs: 'SUCCEEDED' },
    ])
  })

  it('says nothing of payments of another organization that has the same account at the processor', async () => {
    await using shop = await openShop()
    await shop.paid()
    const other = await shop.graph.seed.owner()
    await seedCredential(shop.graph, { organizationId: other.organization.id, provider: 'stripe', secret: 'sk_test_of_these_tests_alone' })
    expect(await reconcile(shop, other.owner)).toMatchObject({ matched: 0, differences: [] })
  })

  it('says that no credential of the processor is stored, and refuses more than 366 days', async () => {
    await using shop = await openShop()
    await shop.graph.rows('delete from providers.credentials')
    const now = shop.graph.clock.now().getTime()
    const answer = (days: number) => shop.graph.execute(ask, { from: new Date(now - days * 86_400_000), to: new Date(now) }, { as: shop.owner })
    expect((await answer(1)).refused('CONFLICT').extensions.reason).toBe('NO_CREDENTIAL')
    expect((await answer(367)).refused('BAD_USER_INPUT').extensions.field).toBe('to')
  })
})

interface Transaction {
  readonly id: string
  readonly processorId: string
}
