import { newId } from '../../../../../platform/ids.ts'
import type { MerchantRow } from '../../../../../subgraphs/payments/stores/merchant.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

/** A merchant beside the default one, past every rule. */
export async function seedMerchant(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, ...more }: { organizationId: string } & Partial<MerchantRow>,
): Promise<MerchantRow> {
  const now = clock.now()
  const id = newId(now)
  const job = platform.payments.job('user:x')
  const invoicePrefix = id.slice(-10).toUpperCase()
  const row = { id, organizationId, name: 'A merchant', defaultCurrency: 'EUR', invoicePrefix, createdAt: now, updatedAt: now, createdBy: 'user:x', ...more }
  return inTransaction(job, ({ transaction }) => job.merchants.insert(row, transaction))
}
