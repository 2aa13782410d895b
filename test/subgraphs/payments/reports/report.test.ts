import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bookings } from '../../../../subgraphs/payments/engines/ledger/movements.ts'
import { post } from '../../../../subgraphs/payments/engines/ledger/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { seedMovements } from '../ledger/seed.ts'
import { seedOrder } from '../order/seed.ts'
import { seedMerchant } from '../parties/merchant/seed.ts'
import { seedVenue } from '../parties/venue/seed.ts'
import { openShop } from '../payment/stage.ts'

const report = `query($from: DateTime!, $to: DateTime!, $groupBy: PaymentReportGrouping!, $merchantId: ID) {
  paymentReport(from: $from, to: $to, groupBy: $groupBy, merchantId: $merchantId) { rows {
    key currency orders captured { amountMinor currency } refunded { amountMinor } disputed { amountMinor } net { amountMinor } } } }`
const year = { from: '2027-01-01T00:00:00.000Z', to: '2028-01-01T00:00:00.000Z' }

describe('paymentReport', () => {
  it('adds up captures, refunds and disputes by day, merchant, venue and currency', async () => {
    await using shop = await openShop()
    const paid = await shop.paid(2500)
    await shop.change('refundOrder', { orderId: paid.id, amountMinor: 700, reason: 'OTHER' }, shop.owner, 'status')
    await seedMovements(shop.graph, { id: paid.id, merchantId: paid.merchantId, organizationId: shop.organizationId }, [
      { ...bookings.disputeOpened(100n), currency: 'EUR', orderId: paid.id },
    ])
    const from = shop.graph.clock.now().toISOString()
    const span = { from: from.replace(/T.*/, 'T00:00:00.000Z'), to: new Date(shop.graph.clock.now().getTime() + 1).toISOString() }
    const rows = async (groupBy: string) => (await shop.graph.execute(report, { ...span, groupBy }, { as: shop.owner })).data().paymentReport.rows
    const sums = {
      ...{ currency: 'EUR', orders: 1, captured: { amountMinor: 2500, currency: 'EUR' }, refunded: { amountMinor: 700 } },
      ...{ disputed: { amountMinor: 100 }, net: { amountMinor: 1700 } },
    }
    expect(await rows('DAY')).toEqual([{ key: from.slice(0, 10), ...sums }])
    expect(await rows('MERCHANT')).toEqual([{ key: paid.merchantId, ...sums }])
    expect(await rows('VENUE')).toEqual([{ key: null, ...sums }])
    expect(await rows('CURRENCY')).toEqual([{ key: 'EUR', ...sums }])
  })

  it('refuses an empty span, more than 366 days, and a merchant of somebody else', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const ask = (more: object) => graph.execute(report, { ...year, groupBy: 'DAY', ...more }, { as: owner })
    expect((await ask({ to: year.from })).refused('BAD_USER_INPUT').extensions.field).toBe('to')
    expect((await ask({ to: '2028-01-02T00:00:00.001Z' })).refused('BAD_USER_INPUT').extensions.field).toBe('to')
    const other = await graph.seed.owner()
    const { merchantId } = await seedOrder(graph, { organizationId: other.organization.id })
    ;(await ask({ merchantId })).refused('NOT_FOUND')
  })

  it('equals the ledger by every grouping and over each span, whatever was posted when, rolled back, or cut off by a lost connection', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const organizationId = organization.id
    const other = await seedMerchant(graph, { organizationId })
    const plain = await seedOrder(graph, { organizationId })
    const { id: venueId } = await seedVenue(graph, { organizationId, merchantId: plain.merchantId })
    const orders = [plain, await seedOrder(graph, { organizationId, venueId }), await seedOrder(graph, { organizationId, merchantId: other.id })]
    const job = graph.platform.payments.job('test')
    const movement = fc.record({
      kind: fc.constantFrom('captured', 'refunded', 'refundFailed', 'disputeOpened', 'disputeWon', 'disputeLost', 'settled', 'settlementReversed'),
      amount: fc.bigInt(1n, 999_999n),
      currency: fc.constantFrom('EUR', 'JPY', 'BHD'),
      hour: fc.integer({ min: 0, max: 24 * 9 }),
      order: fc.constantFrom(...orders),
      end: fc.oneof({ weight: 6, arbitrary: fc.constant('committed') }, fc.constantFrom('rolled back', 'cut off')),
    })
    const begin = Date.parse('2027-03-01T00:00:00.000Z')
    const expected: Readonly<Record<string, string>> = {
      DAY: `(s.posted_at at time zone 'UTC')::date::text`,
      MERCHANT: 's.merchant_id::text',
      VENUE: 'o.venue_id::text',
      CURRENCY: 's.currency',
    }
    const property = fc.asyncProperty(fc.array(movement, { minLength: 1, maxLength: 12 }), fc.integer({ min: 0, max: 24 * 9 }), async (movements, cut) => {
      for (const { kind, amount, currency, hour, order, end } of movements) {
        const booking = kind === 'settled' || kind === 'settlementReversed' ? bookings[kind]('somebody', amount) : bookings[kind](amount)
        const now = new Date(begin + hour * 3_600_000)
        const posted = inTransaction(job, async ({ transaction }) => {
          await post(job, order, [{ ...booking, currency, orderId: order.id }], { transaction, now })
          if (end === 'rolled back') throw new Error('afterwards')
          if (end === 'cut off') await graph.database.sequelize.query('select pg_terminate_backend(pg_backend_pid())', { transaction })
        })
        if (end === 'committed') await posted
        else await expect(posted).rejects.toThrow()
      }
      const at = new Date(begin + cut * 3_600_000 + 1)
      for (const [from, to] of [
        [new Date(begin), at],
        [at, new Date(begin + 24 * 10 * 3_600_000)],
        [new Date(begin), new Date(begin + 24 * 10 * 3_600_000)],
      ] as const)
        for (const [groupBy, key] of Object.entries(expected))
          for (const merchantId of [null, other.id]) {
            const { rows } = (await graph.execute(report, { from, to, groupBy, merchantId }, { as: owner })).data().paymentReport
            const ledger = await graph.rows(
              `select ${key} as key, s.currency, sum(s.orders)::int as orders, sum(s.captured_minor)::int as captured, sum(s.refunded_minor)::int as refunded,
                  sum(s.disputed_minor)::int as disputed
                 from payments.order_sums s left join payments.orders o on o.id = s.order_id
                where s.posted_at >= $1 and s.posted_at < $2 and ($3::uuid is null or s.merchant_id = $3) group by 1, 2 order by 1 nulls last, 2`,
              [from, to, merchantId],
            )
            const shown = (row: Record<string, { amountMinor: number }>) =>
              Object.fromEntries(Object.entries(row).flatMap(([name, value]) => (name === 'net' ? [] : [[name, value?.amountMinor ?? value]])))
            expect(rows.map(shown), `${groupBy} ${merchantId}`).toEqual(ledger)
          }
      const sums = await graph.rows(
        `select currency, sum(captured_minor - refunded_minor - disputed_minor)::bigint::text as net from payments.daily_sums group by 1
          having sum(captured_minor - refunded_minor - disputed_minor) <> 0 order by 1`,
      )
      const accounts = await graph.rows(
        `select currency, (- sum(balance_minor))::bigint::text as net from payments.ledger_accounts where code in ('merchant', 'disputes') group by 1
          having sum(balance_minor) <> 0 order by 1`,
      )
      expect(sums, 'sums of days').toEqual(accounts)
    })
    await fc.assert(property, { numRuns: Number(process.env.REPORT_RUNS ?? 8) })
  })
})

describe('paymentAnalytics', () => {
  it('counts attempts, successes and declines by reason, and captures by day', async () => {
    await using shop = await openShop()
    await shop.paid(2500)
    const declined = await shop.order()
    await shop.pay(declined.id, { paymentMethodToken: 'pm_card_chargeDeclinedInsufficientFunds' })
    await shop.pay(declined.id, { paymentMethodToken: 'pm_card_chargeDeclined' })
    await shop.pay(declined.id, { paymentMethodToken: 'pm_card_chargeDeclined' })
    const ask = `query($from: DateTime!, $to: DateTime!) { paymentAnalytics(from: $from, to: $to) {
      attempts succeeded declines { code count } byDay { day captured { amountMinor currency } count } } }`
    const now = shop.graph.clock.now()
    const span = { from: new Date(now.getTime() - 86_400_000), to: new Date(now.getTime() + 1) }
    expect((await shop.graph.execute(ask, span, { as: shop.owner })).data().paymentAnalytics).toEqual({
      ...{ attempts: 4, succeeded: 1 },
      declines: [
        { code: 'DECLINED', count: 2 },
        { code: 'INSUFFICIENT_FUNDS', count: 1 },
      ],
      byDay: [{ day: now.toISOString().slice(0, 10), captured: { amountMinor: 2500, currency: 'EUR' }, count: 1 }],
    })
  })
})

describe('paymentsOverview', () => {
  it('counts orders by status, and what waits for somebody', async () => {
    await using shop = await openShop()
    await shop.paid()
    const { id } = await shop.order()
    await shop.arm('status', { status: 500 })
    await shop.pay(id)
    const ask = `{ paymentsOverview { orders { status count } unknownOutcomes refundsAwaitingApproval openDisputes deadWebhookEvents undeliveredCallbacks
      settlementBatchesInProgress } }`
    const { orders, ...counts } = (await shop.graph.execute(ask, {}, { as: shop.owner })).data().paymentsOverview
    expect(orders.filter(({ count }: { count: number }) => count > 0)).toEqual([
      { status: 'PENDING', count: 1 },
      { status: 'PAID', count: 1 },
    ])
    expect(orders).toHaveLength(7)
    expect(counts).toEqual({
      ...{ unknownOutcomes: 1, refundsAwaitingApproval: 0, openDisputes: 0, deadWebhookEvents: 0, undeliveredCallbacks: 0, settlementBatchesInProgress: 0 },
    })
  })
})
