import { newId } from '../../../../platform/ids.ts'
import type { NewRow } from '../../../../platform/sql/table.ts'
import type { agents } from '../../../../subgraphs/agents/stores/agent.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An active agent, past every rule. @param userId who wrote it @returns its id */
export async function seedAgent(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, userId = null, ...more }: { organizationId: string; userId?: string | null } & Partial<NewRow<typeof agents>>,
): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const job = platform.agents.job('user:seed')
  await inTransaction(job, async ({ transaction }) => {
    const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:seed' }
    const agent = await job.agents.insert({ id, organizationId, name: 'An agent', instructions: 'Answer.', ...stamps, ...more }, transaction)
    await job.agents.addVersion(agent, userId, transaction)
  })
  return id
}
