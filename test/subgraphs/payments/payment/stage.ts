import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Answer } from '../../../kit/answer.ts'
import { type Supergraph, type SupergraphOptions, supergraph } from '../../../kit/supergraph.ts'
import { createOrder } from '../documents.ts'
import { seedProcessor } from './seed.ts'

const money = '{ amountMinor currency }'
/** What tests look at of an order. */
export const orderFields = `id number status paymentPhase version merchantId captured ${money} refunded ${money} refundable ${money} due ${money}
  failure { code message retryable } transactions { nodes { id type status processorId attempts failure { code } } }`

const mutation = (name: string, selection: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
type Any = any

/** A shop that takes money by a played processor. */
export interface Shop extends AsyncDisposable {
  readonly graph: Supergraph
  readonly owner: Viewer
  readonly organizationId: string
  /** Runs a mutation as the owner, or as somebody else, and returns the whole answer. */
  ask(name: string, input: object, as?: Viewer, selection?: string): Promise<Answer>
  /** The same, and returns what it answers. */
  change(name: string, input: object, as?: Viewer, selection?: string): Promise<Any>
  order(amountMinor?: number, as?: Viewer): Promise<Any>
  /** An order as it stands. */
  read(id: string): Promise<Any>
  pay(orderId: string, more?: object, as?: Viewer): Promise<Any>
  paid(amountMinor?: number): Promise<Any>
  /** Arms a fault of the processor. */
  arm(fault: string, more?: object): Promise<void>
  /** What the processor took for an order, by the last part of its path: `payment_intents`, `refunds`. */
  received(orderId: string, part: string): Promise<Any[]>
  /** The sum of an order's entries in one account. */
  booked(orderId: string, account: string): Promise<number>
  /** Kinds of facts, with what they are about, that were written so far. */
  facts(): Promise<Any[]>
  /** Lets everything happen that is due after so many ms. */
  pass(ms: number): Promise<void>
}

/** Opens a shop; its processor is the sandbox's. */
export async function openShop(options: SupergraphOptions = {}): Promise<Shop> {
  const graph = await supergraph({ sandbox: true, ...options })
  const { owner, organization } = await graph.seed.owner()
  await seedProcessor(graph, { organizationId: organization.id })
  const control = async (path: string, body?: object): Promise<Any> => {
    const answer = await fetch(`${graph.x.origin}/_control/${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'stripe', ...body }) }),
    })
    if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`)
    return answer.json()
  }
  const ask: Shop['ask'] = (name, input, as = owner, selection = orderFields) => graph.execute(mutation(name, selection), { input }, { as })
  const change: Shop['change'] = async (...asked) => (await ask(...asked)).data()[asked[0]]
  const order: Shop['order'] = async (amountMinor = 1000, as = owner) =>
    (await graph.execute(createOrder, { input: { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: amountMinor }] } }, { as })).data().createOrder
  const pay: Shop['pay'] = (orderId, more = {}, as = owner) => change('payOrder', { orderId, paymentMethodToken: 'pm_card_visa', ...more }, as)
  return {
    ...{ graph, owner, ask, change, order, pay, organizationId: organization.id },
    read: async id => (await graph.execute(`query($id: ID!) { order(id: $id) { ${orderFields} } }`, { id }, { as: owner })).data().order,
    paid: async amountMinor => pay((await order(amountMinor)).id),
    arm: async (fault, more = {}) => void (await control('faults', { fault, ...more })),
    received: async (orderId, part) =>
      (await control('received?network=stripe')).filter((item: Any) => item.path?.endsWith(part) && JSON.stringify(item).includes(orderId)),
    booked: async (orderId, account) => {
      const [found] = await graph.rows<{ sum: number }>(
        'select coalesce(sum(amount_minor), 0)::int as sum from payments.ledger_entries where order_id = $1 and account = $2',
        [orderId, account],
      )
      return found!.sum
    },
    facts: () => graph.rows(`select kind, body from payments.facts where receiver = 'launcher' order by seq`),
    pass: async ms => void (await graph.clock.run(ms)),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}
