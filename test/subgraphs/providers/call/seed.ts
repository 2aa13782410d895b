import { newId } from '../../../../platform/ids.ts'
import type { CallRow } from '../../../../subgraphs/providers/stores/call.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** A call that was answered, past every rule, unless said otherwise. */
export async function seedCall(
  { clock, platform }: Pick<Supergraph, 'clock' | 'platform'>,
  given: Partial<CallRow> & Pick<CallRow, 'organizationId'>,
): Promise<CallRow> {
  const now = given.createdAt ?? clock.now()
  const job = platform.providers.job('test')
  const usual = {
    family: 'AI',
    operation: 'chat.completions',
    status: 'SUCCEEDED',
    appId: 'app_providers',
    model: 'openai/gpt-5-mini',
    provider: 'openai',
  } as const
  const figures = { inputTokens: 10, outputTokens: 20, costMicros: 43n, latencyMs: 7, endedAt: now }
  return inTransaction(job, ({ transaction }) => job.callRecords.insert({ id: newId(now), ...usual, ...figures, createdAt: now, ...given }, transaction))
}
