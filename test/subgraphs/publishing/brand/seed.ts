import { newId } from '../../../../platform/ids.ts'
import type { BrandRow } from '../../../../subgraphs/publishing/stores/brand.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A brand, past every rule. */
export async function seedBrand(
  { clock, job }: Pick<Supergraph, 'clock' | 'job'>,
  { organizationId, name = 'A brand', createdBy = 'user:x' }: { organizationId: string; name?: string | undefined; createdBy?: string },
): Promise<BrandRow> {
  const now = clock.now()
  const row = { id: newId(now), organizationId, name, createdAt: now, updatedAt: now, createdBy }
  return inTransaction(job, ({ transaction }) => job.brands.insert(row, transaction))
}
