import { newId } from '../../../../platform/ids.ts'
import { openLink } from '../../../../subgraphs/payments/engines/checkout/link.ts'
import { recordSession } from '../../../../subgraphs/payments/engines/checkout/open.ts'
import type { PaymentLinkRow } from '../../../../subgraphs/payments/stores/checkout/link.ts'
import type { CheckoutSessionRow } from '../../../../subgraphs/payments/stores/checkout/session.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedOrder } from '../order/seed.ts'

type Graph = Pick<Supergraph, 'clock' | 'platform'>
interface Place {
  readonly organizationId: string
  readonly userId?: string | null
}

/** An open session of an order of its own, which the processor has never heard of and is not asked about. */
export async function seedSession(graph: Graph, place: Place): Promise<CheckoutSessionRow> {
  const order = await seedOrder(graph, place)
  const job = graph.platform.payments.job('test')
  const addresses = { successUrl: 'https://shop.example/done', cancelUrl: 'https://shop.example/back' }
  const session = await recordSession(job, { id: newId(graph.clock.now()), orderId: order.id, minutes: 60, ...addresses })
  return inTransaction(job, ({ transaction }) => job.checkoutSessions.update(session, { nextLookAt: null }, transaction))
}

/** An open link of an order of its own. */
export async function seedLink(graph: Graph, place: Place): Promise<PaymentLinkRow> {
  const order = await seedOrder(graph, place)
  const job = graph.platform.payments.job('test')
  return inTransaction(job, async unit => {
    const expiresAt = new Date(unit.now.getTime() + 86_400_000)
    return (await openLink(job, (await job.orders.lock(order.id, unit.transaction))!, { expiresAt }, unit)).link
  })
}
