import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Answer } from '../../../kit/answer.ts'
import type { SupergraphOptions } from '../../../kit/supergraph.ts'
import { seedCustomer } from '../parties/customer/seed.ts'
import { openShop, type Shop } from '../payment/stage.ts'

const money = '{ amountMinor currency }'
const fields = `id number status version currency memo dueAt issuedAt paidAt paymentUrl customerId orderId merchantId lines { name taxRate tax ${money} }
  subtotal ${money} discount ${money} tax ${money} total ${money} amountDue ${money} metadata { key value } order { id status } creditNotes { number }`
export const noteFields = `id number reason amount ${money} refund { id status reason note } invoice { id }`

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that each test asks for
type Any = any

/** A shop that writes invoices to a customer. */
export interface Office extends AsyncDisposable {
  readonly shop: Shop
  readonly customerId: string
  /** Runs a mutation as the owner, and returns the whole answer. */
  ask(name: string, input: object, as?: Viewer): Promise<Answer>
  /** The same, and returns what it answers. */
  change(name: string, input: object): Promise<Any>
  draft(more?: object): Promise<Any>
  finalized(more?: object): Promise<Any>
  read(id: string): Promise<Any>
  /** What the audit log has of a record, oldest first. */
  log(id: string): Promise<Any[]>
}

/** Opens an office; its processor is the sandbox's. */
export async function openOffice(options: SupergraphOptions = {}): Promise<Office> {
  const shop = await openShop(options)
  const { graph, owner, organizationId } = shop
  const { id: customerId } = await seedCustomer(graph, { organizationId, name: 'Ada', email: 'ada@example.com' })
  const selectionOf = (name: string) => (name === 'createCreditNote' ? noteFields : fields)
  const ask: Office['ask'] = (name, input, as = owner) => shop.ask(name, input, as, selectionOf(name))
  const change: Office['change'] = async (name, input) => (await ask(name, input)).data()[name]
  const draft: Office['draft'] = async (more = {}) => {
    const subject = 'orderId' in more ? {} : { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1000 }] }
    return change('createInvoice', { customerId, ...subject, ...more })
  }
  return {
    ...{ shop, customerId, ask, change, draft },
    finalized: async (more = {}) => change('finalizeInvoice', { id: (await draft(more)).id }),
    read: async id => (await graph.execute(`query($id: ID!) { invoice(id: $id) { ${fields} } }`, { id }, { as: owner })).data().invoice,
    log: async id => {
      const text = 'query($id: ID) { paymentAuditLog(entityId: $id) { nodes { action changes { field before after } } } }'
      return (await graph.execute(text, { id }, { as: owner })).data().paymentAuditLog.nodes.reverse()
    },
    [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose](),
  }
}
