import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, writeFacts } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { AgentRow } from '../../stores/agent.ts'
import { monthOf } from '../../stores/model-call.ts'
import type { Usage } from './usage.ts'
import type { ModelWork } from './work.ts'

/** The name under which managers are told that an agent has reached its limit. */
export const attentionKey = (agentId: string): string => `agent_budget:${agentId}`

type Limited = Pick<AgentRow, 'id' | 'monthlyLimitMicros'>

/** Whether an agent may begin something: it is below its monthly limit. Managers are told once a month that it is not. */
export async function isWithinBudget(job: ModelWork, { id, monthlyLimitMicros }: Limited): Promise<boolean> {
  if (monthlyLimitMicros === null) return true
  if ((await job.modelCalls.spentSince(id, monthOf(job.clock.now()))) < monthlyLimitMicros) return true
  await inTransaction(job, unit => warnOfBudget(job, id, unit))
  return false
}

/** Tells managers that an agent has reached its limit; once a month. */
async function warnOfBudget(job: ModelWork, id: string, unit: WriteTransaction): Promise<void> {
  const { now, transaction } = unit
  const agent = await job.agents.lock(id, transaction)
  if (!agent || (agent.budgetAlertAt !== null && agent.budgetAlertAt >= monthOf(now))) return
  await job.agents.update(agent, { budgetAlertAt: now }, transaction)
  const body = {
    ...{ key: attentionKey(id), kind: 'AGENT_BUDGET', organizationId: agent.organizationId, subjectId: id, audience: 'managers' as const },
    ...{ title: `${agent.name} has reached its monthly limit`, url: `${job.publicUrl}/agents/api/agents/${id}`, at: now.toISOString() },
  }
  await writeFacts(job, [{ kind: 'attention.opened', body }], unit)
}

/** Takes the warning back for agents whose month has ended. */
export async function endBudgetWarnings(job: ModelWork): Promise<void> {
  await inTransaction(job, async unit => {
    const ended = await job.agents.endAlerts(monthOf(unit.now), unit.transaction)
    await writeFacts(
      job,
      ended.map(id => ({ kind: 'attention.closed', body: { key: attentionKey(id) } }) as const),
      unit,
    )
  })
}

/** Writes down what a call cost; the same call counts once. @param runIds the run and those above it */
export async function recordCall(
  job: ModelWork,
  { id: agentId, organizationId }: Pick<AgentRow, 'id' | 'organizationId'>,
  { callId, costMicros, inputTokens, outputTokens }: Usage,
  runIds: readonly string[] = [],
): Promise<void> {
  await inTransaction(job, ({ transaction, now }) =>
    job.modelCalls.add({ id: newId(now), organizationId, agentId, callId, runIds, costMicros, inputTokens, outputTokens, at: now }, transaction),
  )
}
