import { idOfName } from '../../../platform/ids.ts'
import { type Deletion, deletionsBy, type Run } from '../../store/removal.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { type GivenLine, workOut } from '../order/rules.ts'

const merchantName = 'Demo Merchant'
const currency = 'EUR'

interface DemoOrder {
  /** What its id is made of, by which the next start finds it again, whatever was changed in it. */
  readonly mark: string
  readonly description: string
  readonly lines: readonly GivenLine[]
}

/** The order whose payer disputes it. */
export const disputedMark = 'demo-chairs'

/** What is ordered of the demo merchant, in order of creation. */
const demoOrders: readonly DemoOrder[] = [
  {
    mark: 'demo-workshop',
    description: 'A workshop for six people',
    lines: [
      { name: 'Seat in the workshop', sku: 'WS-1', quantity: 6, unitAmountMinor: 12_500n, discountMinor: 5_000n, taxRate: '19' },
      { name: 'Printed handbook', sku: 'BK-2', quantity: 6, unitAmountMinor: 1_450n, taxRate: '7' },
    ],
  },
  { mark: 'demo-subscription', description: 'One year of the newsletter', lines: [{ name: 'Newsletter, a year', unitAmountMinor: 4_800n, taxRate: '19' }] },
  // What becomes of the others stands in trade.ts, by their marks.
  ...(
    [
      ['demo-checkout', 'Two seats in the evening course', 'Seat in the evening course', 8_900n, 2],
      ['demo-deposit', 'Deposit for the rented projector', 'Deposit', 20_000n, 1],
      ['demo-tickets', 'Tickets for the open day', 'Ticket', 2_500n, 4],
      ['demo-breakfast', 'Breakfast for ten people', 'Breakfast', 1_190n, 10],
      ['demo-concert', 'Tickets for the concert that was called off', 'Ticket', 3_500n, 2],
      ['demo-course', 'A course in book-keeping', 'Course', 34_900n, 1],
      ['demo-catering', 'Catering for the summer party', 'Menu', 4_200n, 30],
      ['demo-machine', 'A machine that is sent back', 'Coffee machine', 189_000n, 1],
      [disputedMark, 'Chairs that never arrived, says the customer', 'Chair', 7_900n, 4],
      ['demo-consulting', 'Two days of consulting', 'Day of consulting', 96_000n, 2],
      ['demo-poster', 'Posters for the fair', 'Poster', 1_450n, 20],
      ['demo-printing', 'Printing of the annual report', 'Report', 890n, 100],
      ['demo-booth', 'A booth at the fair', 'Booth', 120_000n, 1],
    ] as const
  ).map(([mark, description, name, unitAmountMinor, quantity]) => ({ mark, description, lines: [{ name, quantity, unitAmountMinor, taxRate: '19' }] })),
]

/** Whose the demo is. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
}

/** Makes what is missing of the demo's merchant and orders, all of them drafts. @param job in the owner's name @returns the orders' ids, in order of creation and by mark */
export async function provideDemo(
  job: Job,
  { organizationId, userId }: DemoOwner,
): Promise<{ readonly merchantId: string; readonly orderIds: readonly string[]; readonly byMark: ReadonlyMap<string, string> }> {
  const { merchants, orders } = job
  const createdBy = `user:${userId}`
  const ofDemo = idOfName(organizationId, merchantName)
  const orderIds = demoOrders.map(({ mark }) => idOfName(ofDemo, mark))
  const merchantId = await inTransaction(job, async ({ transaction, now }) => {
    const fresh = { id: ofDemo, organizationId, name: merchantName, defaultCurrency: currency, createdAt: now, createdBy }
    return merchants.ensureDefault(fresh, transaction)
  })
  await inTransaction(job, async ({ transaction, now }) => {
    // Whoever starts at the same moment waits here, and finds everything.
    await merchants.lock(merchantId, transaction)
    for (const [index, { description, lines }] of demoOrders.entries()) {
      const id = orderIds[index]!
      if (await orders.lock(id, transaction)) continue
      // Those that were ordered first are the older ones.
      const createdAt = new Date(now.getTime() - (demoOrders.length - index))
      const number = await orders.nextNumber(organizationId, transaction)
      const place = { id, merchantId, organizationId, userId, number, currency, description }
      await orders.insert({ ...place, ...workOut(lines), createdAt, updatedAt: createdAt, createdBy }, transaction)
    }
  })
  return { merchantId, orderIds, byMark: new Map(demoOrders.map(({ mark }, at) => [mark, orderIds[at]!])) }
}

/** What goes of payments with organizations, beside what belongs to these. */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  // The ledger lets go of the entries of a merchant that is gone, to whoever says so.
  await run(`select set_config('payments.ledger_removal', 'on', true)`)
  // The audit log keeps its entries from everybody who does not say so.
  await run(`select set_config('payments.audit_removal', 'on', true)`)
  const settings = { sql: 'delete from payments.settings where id = any($1::uuid[])', bind: [organizations] }
  const merchants = await run<{ id: string }>('select id from payments.merchants where organization_id = any($1::uuid[])', [organizations])
  const kept = await deletionsBy(
    run,
    'tenant_id',
    merchants.map(({ id }) => id),
  )
  return [...kept, settings]
}
