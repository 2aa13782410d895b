import { newId } from '../../../../platform/ids.ts'
import { workOut } from '../../../../subgraphs/payments/order/rules.ts'
import type { OrderRow } from '../../../../subgraphs/payments/stores/order.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An order of one thing for 10.00 EUR, past every rule. @param merchantId who sells it @default the default merchant */
export async function seedOrder(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, userId = null, merchantId, venueId }: { organizationId: string; userId?: string | null; merchantId?: string; venueId?: string },
): Promise<OrderRow> {
  const now = clock.now()
  const createdBy = userId ? `user:${userId}` : 'key:x'
  const job = platform.payments.job(createdBy)
  return inTransaction(job, async ({ transaction }) => {
    const fresh = { id: newId(now), organizationId, name: 'A merchant', defaultCurrency: 'EUR', createdAt: now, createdBy }
    const seller = merchantId ?? (await job.merchants.ensureDefault(fresh, transaction))
    const place = { id: newId(now), organizationId, merchantId: seller, ...(venueId && { venueId }), userId, currency: 'EUR' }
    const number = await job.orders.nextNumber(organizationId, transaction)
    const row = { ...place, number, ...workOut([{ name: 'Ticket', unitAmountMinor: 1000n }]), createdAt: now, updatedAt: now, createdBy }
    return job.orders.insert(row, transaction)
  })
}
