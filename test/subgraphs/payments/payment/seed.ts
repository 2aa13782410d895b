import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId } from '../../../../platform/ids.ts'
import type { OrderRow } from '../../../../subgraphs/payments/stores/order.ts'
import type { RefundRow } from '../../../../subgraphs/payments/stores/refund.ts'
import type { TransactionRow } from '../../../../subgraphs/payments/stores/transaction.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedCredential } from '../../providers/credential/seed.ts'
import { seedOrder } from '../order/seed.ts'
import { seedClient } from '../parties/customer/seed.ts'

type Graph = Pick<Supergraph, 'clock' | 'platform'>
interface Place {
  readonly organizationId: string
  readonly userId?: string | null
}

/** Lets payments have the played processor called: a credential of the organization, and payments as a client of the gateway. */
export async function seedProcessor(graph: Graph & Pick<Supergraph, 'rows'>, { organizationId }: { readonly organizationId: string }): Promise<void> {
  await seedClient(graph)
  await seedCredential(graph, { organizationId, provider: 'stripe', name: 'Processor of payments', secret: 'sk_test_of_these_tests_alone' })
}

/** An order over 10.00 EUR, as if this much of it had been taken; nothing of it is at the processor or in the ledger. */
export async function seedPaid(graph: Graph, place: Place): Promise<OrderRow> {
  const order = await seedOrder(graph, place)
  const job = graph.platform.payments.job('test')
  const taken = { status: 'PAID', capturedMinor: order.totalMinor, processorPaymentId: 'pi_seeded', paidAt: graph.clock.now() } as const
  return inTransaction(job, ({ transaction }) => job.orders.update(order, taken, transaction))
}

/** A payment of an order of its own whose outcome nobody knows, and nobody asks about. */
export async function seedUnknown(graph: Graph, place: Place): Promise<TransactionRow> {
  const order = await seedOrder(graph, place)
  const job = graph.platform.payments.job('test')
  return inTransaction(job, async ({ transaction, now }) => {
    await job.orders.update(order, { status: 'PENDING', paymentPhase: 'UNKNOWN' }, transaction)
    const { merchantId, organizationId, id: orderId, currency, totalMinor: amountMinor } = order
    const what = { type: 'PURCHASE', status: 'UNKNOWN', amountMinor, currency, attempts: 1, statusBefore: 'DRAFT' } as const
    return job.transactions.insert(
      { id: newId(now), merchantId, organizationId, orderId, ...what, createdAt: now, updatedAt: now, createdBy: 'test' },
      transaction,
    )
  })
}

/** A refund of a paid order of its own; it waits for approval, and nobody is known to have asked for it, unless said otherwise. */
export async function seedWaiting(graph: Graph, place: Place, more: Partial<RefundRow> = {}): Promise<RefundRow> {
  const order = await seedPaid(graph, place)
  const job = graph.platform.payments.job('test')
  return inTransaction(job, async ({ transaction, now }) => {
    const amountMinor = 100n
    await job.orders.update(order, { returningMinor: amountMinor }, transaction)
    const { merchantId, organizationId, id: orderId, currency } = order
    const what = { amountMinor, currency, reason: 'OTHER', status: 'AWAITING_APPROVAL', origin: 'PLATFORM' } as const
    const stamps = { createdAt: now, updatedAt: now, createdBy: 'test' }
    return job.refunds.insert({ id: newId(now), merchantId, organizationId, orderId, ...what, ...more, ...stamps }, transaction)
  })
}

/** An order of which so much money was taken that a refund of all of it waits for a second person. */
export async function seedLarge(graph: Graph, place: Place): Promise<OrderRow> {
  const order = await seedPaid(graph, place)
  const job = graph.platform.payments.job('test')
  const amount = 200_000n
  return inTransaction(job, ({ transaction }) => job.orders.update(order, { subtotalMinor: amount, totalMinor: amount, capturedMinor: amount }, transaction))
}

/**
 * Has a mutation answer as if it had been made before under the key `access`, so that nobody has to be asked for it.
 * @param input  as the resolver receives it, without the key
 * @param madeId what it made, where that is answered again
 */
export async function seedRepetition(
  graph: Pick<Supergraph, 'rows' | 'clock'>,
  { organizationId }: Place,
  what: string,
  input: Readonly<Record<string, unknown>>,
  madeId = newId(),
): Promise<void> {
  const { hash } = readIdempotency({ idempotencyKey: 'access', ...input })!
  await graph.rows(`delete from payments.idempotency_keys where tenant_id = $1 and what = $2 and key = 'access'`, [organizationId, what])
  await graph.rows(`insert into payments.idempotency_keys (tenant_id, caller, what, key, hash, made_id, at) values ($1, 'test', $2, 'access', $3, $4, $5)`, [
    organizationId,
    what,
    hash,
    madeId,
    graph.clock.now(),
  ])
}
