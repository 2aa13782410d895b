import { expect } from 'vitest'
import type { Job } from '../../../../subgraphs/payments/context.ts'
import { janitor } from '../../../../subgraphs/payments/engines/payment/janitor.ts'
import { processing } from '../../../../subgraphs/payments/engines/webhook/process.ts'
import { handlers } from '../../../../subgraphs/payments/http/stripe/handlers.ts'
import { receiveEvent } from '../../../../subgraphs/payments/http/stripe/receive.ts'
import type { Answer } from '../../../kit/answer.ts'
import { dies } from '../../../kit/dies.ts'
import { processorSecret } from '../../../kit/supergraph.ts'
import { seedCustomer } from '../parties/customer/seed.ts'
import { openShop } from '../payment/stage.ts'
import { eventsOf, type SentEvent, signatureOf } from './stage.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of the processor has the shape that it gives it
type Any = any

/** What may go wrong with a call to the processor: it is lost before it is done, or its answer is lost; by the line or by a process that dies. */
export const mishaps = ['none', 'lost', 'answer lost', 'intention-recorded', 'processor-answered'] as const
export type Mishap = (typeof mishaps)[number]
/** Whether the processor has not done it when the call is over. */
export const isUndone = (mishap: Mishap): boolean => mishap === 'lost' || mishap === 'intention-recorded'

/** What the processor holds for an order, in minor units. */
export interface Figures {
  captured: number
  refunded: number
  disputed: number
}

/** An order whose life is told, here and at the processor. */
export interface Tale {
  readonly id: string
  invoiceId: string | null
  /** What the processor must have by now, worked out of what was answered. */
  readonly there: Figures
  /** Calls that were lost, and are to be made again under their keys. */
  readonly lost: Partial<Figures>[]
  /** The status that the order had last. */
  status: string
  /** Whether somebody has done something at the processor itself, after which a call that was lost may be refused. */
  isForeign: boolean
  readonly delivered: Set<string>
}

/** A shop in which only what a test drives happens: no sweep runs by itself, because the time stands still. */
export async function openTales() {
  const shop = await openShop()
  const events = eventsOf(shop.graph)
  const job = (): Job => shop.graph.platform.payments.job('processor')
  const { id: customerId } = await seedCustomer(shop.graph, { organizationId: shop.organizationId, name: 'Ada' })
  const looks = processing<Job>(job, handlers, false)
  const repeats = janitor(job)
  const receiving = { secrets: [processorSecret], clock: shop.graph.clock, events: () => job().webhookEvents, wake() {} }
  return {
    ...{ shop, events, customerId, emit: events.emit },
    receive(event: SentEvent, signature = signatureOf(JSON.stringify(event), shop.graph.clock.now())) {
      const headers = { 'stripe-signature': signature }
      return receiveEvent(receiving, new Request('http://payments/', { method: 'POST', body: JSON.stringify(event), headers }))
    },
    /** Looks once at everything that is due. */
    async look() {
      await looks.sweep.run()
      await looks.ended()
      await repeats.run()
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  }
}

export type Tales = Awaited<ReturnType<typeof openTales>>

/** Refusals of the contract that a step may meet. */
const reasons = ['ILLEGAL_MOVE', 'OUTCOME_UNKNOWN', 'REFUND_EXCEEDS_REMAINING', 'DISPUTED', 'ALREADY_INVOICED', 'EXCEEDS_REMAINING', 'SESSION_OPEN']

/**
 * Asks for a mutation that calls the processor, with a mishap.
 * @returns what it answers, `died` when its process did, null when it is refused as the contract says
 */
export async function call({ shop }: Tales, name: string, input: object, mishap: Mishap, selection = 'id'): Promise<Any> {
  const ask = () => shop.ask(name, input, shop.owner, selection)
  if (mishap === 'intention-recorded' || mishap === 'processor-answered') return died(mishap, name, ask)
  if (mishap === 'lost') await shop.arm('status', { status: 500 })
  if (mishap === 'answer lost') await shop.arm('status-after-accept', { status: 503 })
  const answer = await ask()
  await shop.arm('none')
  return isRefused(answer) ? null : answer.data()[name]
}

/** @throws for a refusal that the contract does not have */
function isRefused({ error }: Answer): boolean {
  if (!error) return false
  expect([error.extensions.code, error.extensions.reason], error.message).toEqual(['CONFLICT', expect.toBeOneOf(reasons)])
  return true
}

/** Lets the process die in a mutation, unless it is refused before it comes so far. */
async function died(point: string, name: string, ask: () => Promise<Answer>): Promise<Any> {
  let refused = false
  await dies(point, async () => {
    const answer = await ask()
    refused = answer.error?.extensions.code === 'CONFLICT' && isRefused(answer)
    if (!answer.error) throw new Error(`${name} came to no call of the processor`)
  }).catch(error => {
    if (!refused) throw error
  })
  return refused ? null : 'died'
}

/** Notes what a call that was taken has moved, or will. */
export function note(tale: Tale, mishap: Mishap, moved: Partial<Figures>): void {
  if (isUndone(mishap)) tale.lost.push(moved)
  else add(tale.there, moved)
}

export function add(figures: Figures, moved: Partial<Figures>): void {
  for (const [name, amount] of Object.entries(moved) as [keyof Figures, number][]) figures[name] += amount
}

/** The payment, refunds and dispute that the processor has of an order. */
export async function objectsAt({ events }: Tales, id: string) {
  const all = async (path: string): Promise<Any[]> => (await events.at(`${path}?limit=100`)).data
  const intents = (await all('/payment_intents')).filter(({ metadata }) => metadata.order_id === id)
  const names = new Set(intents.map(intent => intent.id))
  const [refunds, disputes] = [await all('/refunds'), await all('/disputes')].map(found => found.filter(each => names.has(each.payment_intent)))
  return { intents, refunds: refunds!, disputes: disputes! }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0)

/** The processor's own figures of an order. */
export function figuresOf({ intents, refunds, disputes }: Awaited<ReturnType<typeof objectsAt>>): Figures {
  return {
    captured: sum(intents.map(({ amount_received }) => amount_received)),
    refunded: sum(refunds.flatMap(({ status, amount }) => (status === 'succeeded' ? [amount] : []))),
    disputed: sum(disputes.flatMap(({ status, amount }) => (status === 'won' ? [] : [amount]))),
  }
}

/** An order's own amounts, the sums of its transactions, what the ledger has of it, and how its invoice stands. */
export async function ours({ shop }: Tales, id: string): Promise<Any> {
  const [row] = await shop.graph.rows<Any>(
    `select o.status, o.payment_phase as phase, o.total_minor::int as total, o.captured_minor::int as captured, o.refunded_minor::int as refunded,
        o.disputed_minor::int as disputed, o.returning_minor::int as returning, o.authorized_minor::int as held,
        (select coalesce(sum(amount_minor), 0)::int from payments.transactions t where t.order_id = o.id and t.status = 'SUCCEEDED' and t.type in ('CAPTURE', 'PURCHASE')) as taken,
        (select count(*)::int from payments.transactions t where t.order_id = o.id and t.status = 'SUCCEEDED' and t.type in ('CAPTURE', 'PURCHASE')) as captures,
        (select coalesce(sum(amount_minor), 0)::int from payments.transactions t where t.order_id = o.id and t.status = 'SUCCEEDED' and t.type = 'REFUND') as back,
        (select coalesce(sum(amount_minor), 0)::int from payments.ledger_entries e where e.order_id = o.id and e.account = 'processor') as processor,
        (select coalesce(sum(amount_minor), 0)::int from payments.ledger_entries e where e.order_id = o.id) as balance,
        (select coalesce(sum(amount_minor), 0)::int from payments.disputes d where d.order_id = o.id and d.status <> 'WON') as contested,
        (select i.status from payments.invoices i where i.order_id = o.id) as invoice,
        (select i.paid_minor::int from payments.invoices i where i.order_id = o.id) as "invoicePaid",
        (select coalesce(sum(n.amount_minor), 0)::int from payments.credit_notes n join payments.invoices i on i.id = n.invoice_id where i.order_id = o.id) as credited
      from payments.orders o where o.id = $1`,
    [id],
  )
  return row
}
