import { setTimeout } from 'node:timers/promises'
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

/** A call that an agent may make. */
export interface BegunCall {
  /** What is reserved for it; null: nothing, far from the limit. */
  readonly reservation: string | null
}

/** More calls than an agent has under way at once, so that far from its limit none has to be counted before it ends. */
const callsAtOnce = 1_000
/** How often it is looked whether calls under way have ended, in ms. */
const lookMs = 200
/** How much longer than its time a call is counted that nobody ended, in ms. */
const graceMs = 30_000

/**
 * Begins a call of an agent that is below its monthly limit: calls under way count as much as its dearest one of late, so that all of them
 * together do not pass the limit by more than one call does. Near the limit it waits for calls under way.
 * @param timeoutMs how long the call may take, and is waited for
 * @returns null when the limit is reached, of which managers are told once a month, or when it does not become clear in time
 */
export async function beginCall(job: ModelWork, { id, monthlyLimitMicros: limit }: Limited, timeoutMs: number): Promise<BegunCall | null> {
  if (limit === null) return { reservation: null }
  const month = monthOf(job.clock.now())
  const { spent, dearest } = await job.reservedCalls.spending(id, month, job.clock.now())
  if (dearest !== null && spent + BigInt(callsAtOnce) * dearest < limit) return { reservation: null }
  const until = performance.now() + timeoutMs
  for (;;) {
    const found = await inTransaction(job, unit => reserveCall(job, { id, limit }, timeoutMs, unit))
    if (found === 'reached') await inTransaction(job, unit => warnOfBudget(job, id, unit))
    if (found === 'reached' || (found === 'waits' && performance.now() >= until)) return null
    if (found !== 'waits') return { reservation: found }
    await setTimeout(lookMs)
  }
}

/** Reserves what a call may cost. @returns the reservation; `waits` while calls under way may reach the limit */
async function reserveCall(
  job: ModelWork,
  { id: agentId, limit }: { readonly id: string; readonly limit: bigint },
  timeoutMs: number,
  { transaction, now }: WriteTransaction,
): Promise<string | 'reached' | 'waits'> {
  await job.reservedCalls.lock(agentId, transaction)
  const { spent, reserved, dearest } = await job.reservedCalls.spending(agentId, monthOf(now), now, transaction)
  if (spent >= limit) return 'reached'
  if (spent + reserved >= limit) return 'waits'
  const id = newId(now)
  // While nobody knows what a call costs, it may cost all that is left.
  const left = limit - spent
  const micros = dearest === null || dearest > left ? left : dearest > 0n ? dearest : 1n
  await job.reservedCalls.reserve({ id, agentId, micros, expiresAt: new Date(now.getTime() + timeoutMs + graceMs) }, transaction)
  return id
}

/** Ends a call that cost nothing. */
export async function releaseCall(job: ModelWork, { reservation }: BegunCall): Promise<void> {
  if (reservation !== null) await job.reservedCalls.release(reservation)
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

/** Writes down what a call cost, which ends it; the same call counts once. @param runIds the run and those above it */
export async function recordCall(
  job: ModelWork,
  { id: agentId, organizationId }: Pick<AgentRow, 'id' | 'organizationId'>,
  { callId, costMicros, inputTokens, outputTokens }: Usage,
  { reservation }: BegunCall,
  runIds: readonly string[] = [],
): Promise<void> {
  await inTransaction(job, async ({ transaction, now }) => {
    await job.modelCalls.add({ id: newId(now), organizationId, agentId, callId, runIds, costMicros, inputTokens, outputTokens, at: now }, transaction)
    if (reservation !== null) await job.reservedCalls.release(reservation, transaction)
  })
}
