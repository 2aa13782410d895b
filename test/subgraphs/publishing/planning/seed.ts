import { newId } from '../../../../platform/ids.ts'
import type { CampaignRow } from '../../../../subgraphs/publishing/stores/planning/campaign.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A campaign, past every rule. */
export async function seedCampaign(
  { clock, job }: Pick<Supergraph, 'clock' | 'job'>,
  { brandId, ...row }: Partial<CampaignRow> & { brandId: string },
): Promise<CampaignRow> {
  const now = clock.now()
  const whole = { name: 'A campaign', ...row, brandId, id: newId(now), createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return inTransaction(job, ({ transaction }) => job.campaigns.insert(whole, transaction))
}
