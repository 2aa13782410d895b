import { newId } from '../../../../../platform/ids.ts'
import type { VenueRow } from '../../../../../subgraphs/payments/stores/parties/venue.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

/** A venue of a merchant, past every rule. */
export async function seedVenue(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, merchantId, ...more }: { organizationId: string; merchantId: string } & Partial<VenueRow>,
): Promise<VenueRow> {
  const now = clock.now()
  const job = platform.payments.job('user:x')
  const row = { id: newId(now), organizationId, merchantId, name: 'A venue', createdAt: now, updatedAt: now, createdBy: 'user:x', ...more }
  return inTransaction(job, ({ transaction }) => job.venues.insert(row, transaction))
}
