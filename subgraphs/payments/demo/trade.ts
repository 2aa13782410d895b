import { type DemoOwner, disputedMark } from './demo.ts'

/** Runs a mutation or query at the graph. @throws with the answer's first error */
// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each document asks for
export type RunDocument = (document: string, variables: object, as: 'owner' | 'settlement') => Promise<any>

/** What happens with the demo's orders. */
interface Trade extends Pick<DemoOwner, 'organizationId'> {
  readonly run: RunDocument
  readonly customerId: string
  /** Accounts to which the processor transfers. */
  readonly payees: readonly string[]
}

const mutation = (name: string, selection: string): string =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

type Step = (trade: Trade, orderId: string) => Promise<unknown>

const change = async ({ run }: Trade, name: string, input: object, selection = 'id') => (await run(mutation(name, selection), { input }, 'owner'))[name]

const pay =
  (paymentMethodToken: string, capture = true): Step =>
  (trade, orderId) =>
    change(trade, 'payOrder', { orderId, paymentMethodToken, capture })
const refund =
  (amountMinor: number | null): Step =>
  (trade, orderId) =>
    change(trade, 'refundOrder', { orderId, amountMinor, reason: 'REQUESTED_BY_CUSTOMER', note: 'Asked for by mail.' })
const openCheckout: Step = (trade, orderId) =>
  change(trade, 'createCheckoutSession', {
    ...{ orderId, expiresInMinutes: 1_440, successUrl: 'https://shop.example.com/thanks', cancelUrl: 'https://shop.example.com/cart' },
  })

/** Writes an invoice of the order, and issues it without a mail; then what is done with it. */
const invoice =
  (then: 'nothing' | 'issued' | 'voided'): Step =>
  async (trade, orderId) => {
    const { id } = await change(trade, 'createInvoice', { customerId: trade.customerId, orderId, memo: 'Thank you for your order.' })
    if (then !== 'nothing') await change(trade, 'finalizeInvoice', { id, send: false })
    if (then === 'voided') await change(trade, 'voidInvoice', { id, reason: 'Written by mistake.' })
  }

/** What becomes of each order of the demo that does not stay a draft, by its mark. */
export const demoStories: Readonly<Record<string, readonly Step[]>> = {
  'demo-checkout': [openCheckout],
  'demo-deposit': [pay('pm_card_visa', false)],
  'demo-tickets': [pay('pm_card_visa')],
  'demo-breakfast': [pay('pm_card_visa'), refund(1_190)],
  'demo-concert': [pay('pm_card_visa'), refund(null)],
  'demo-course': [pay('pm_card_chargeDeclinedInsufficientFunds')],
  'demo-catering': [(trade, id) => change(trade, 'cancelOrder', { id, reason: 'The event does not take place.' })],
  // More than a refund may have without a second person.
  'demo-machine': [pay('pm_card_visa'), refund(164_900)],
  [disputedMark]: [pay('pm_card_createDispute')],
  'demo-consulting': [invoice('nothing')],
  'demo-poster': [invoice('issued')],
  'demo-printing': [invoice('issued'), pay('pm_card_visa')],
  'demo-booth': [invoice('voided')],
}

/** What the settlement service has paid out: the second batch names an account that the processor does not know. */
const batches = ({ payees }: Trade) => [
  { externalBatchId: 'demo-payout-1', amounts: [[payees[0], 24_000] as const, [payees[1], 9_900] as const] },
  { externalBatchId: 'demo-payout-2', amounts: [[payees[0], 12_500] as const, ['acct_closed', 4_200] as const] },
]

async function payOut(trade: Trade): Promise<void> {
  for (const { externalBatchId, amounts } of batches(trade)) {
    const { settlementBatches } = await trade.run(
      'query($externalBatchId: String!) { settlementBatches(externalBatchId: $externalBatchId) { totalCount } }',
      { externalBatchId },
      'owner',
    )
    if (settlementBatches.totalCount > 0) continue
    const lines = amounts.map(([payee, amountMinor], at) => ({
      ...{ lineId: `line-${at + 1}`, payer: 'Demo Merchant', payee, amountMinor, reference: externalBatchId },
    }))
    const controlTotalMinor = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
    await trade.run(
      mutation('submitSettlementBatch', 'id'),
      { input: { externalBatchId, currency: 'EUR', controlTotalMinor, lineCount: lines.length, lines } },
      'settlement',
    )
  }
}

/**
 * Has the demo's orders, invoices and batches come to every status, each by the operations that anybody would use. What somebody has changed
 * is left alone, so a second call does nothing.
 * @param orders ids of orders by their marks
 * @param goesOn whether to begin with the next one
 * @returns a sentence for each that failed: no start depends on the processor
 */
export async function provideDemoTrade(trade: Trade, orders: ReadonlyMap<string, string>, goesOn: () => boolean): Promise<readonly string[]> {
  const left: string[] = []
  const attempt = async (what: string, work: () => Promise<unknown>) => {
    if (!goesOn()) return
    try {
      await work()
    } catch (error) {
      left.push(`the demo's ${what} is not what it should be (${(error as Error).message})`)
    }
  }
  for (const [mark, steps] of Object.entries(demoStories))
    await attempt(`order ${mark}`, async () => {
      const id = orders.get(mark)!
      const { order } = await trade.run('query($id: ID!) { order(id: $id) { status version invoice { id } } }', { id }, 'owner')
      if (order.status !== 'DRAFT' || order.version > 1 || order.invoice) return
      for (const step of steps) await step(trade, id)
    })
  await attempt('settlement', () => payOut(trade))
  return left
}
