import { bookings } from '../../../../subgraphs/payments/engines/ledger/movements.ts'
import { type Movement, post } from '../../../../subgraphs/payments/engines/ledger/post.ts'
import type { OrderRow } from '../../../../subgraphs/payments/stores/order.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** Posts movements of an order's merchant in a transaction of their own; 10.00 EUR of the order are taken where none are given. */
export async function seedMovements(
  { platform }: Pick<Supergraph, 'platform'>,
  order: Pick<OrderRow, 'id' | 'merchantId' | 'organizationId'>,
  movements: readonly Movement[] = [{ ...bookings.captured(1000n), currency: 'EUR', orderId: order.id }],
): Promise<readonly string[]> {
  const job = platform.payments.job('test')
  return inTransaction(job, unit => post(job, order, movements, unit))
}
