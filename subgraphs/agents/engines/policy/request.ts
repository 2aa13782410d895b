import { record, type WriteTransaction, type Writing } from '../../../store/books.ts'
import type { PolicyRequestRow } from '../../stores/run/policy-request.ts'
import type { RunRow } from '../../stores/run/run.ts'
import { hashOfAction } from '../run/canonical.ts'
import { stepIdOf } from '../run/records.ts'
import { writeFeed } from '../run/start.ts'
import type { Effect } from '../run/walk.ts'
import type { PolicyWork } from './work.ts'

type Work = Writing & Pick<PolicyWork, 'policyRequests' | 'workFeed'>

/** Writes down what the settlement and policy service is to be asked; it is called once this is committed. */
export async function requestPolicy(
  job: Work,
  run: RunRow,
  { step, action, id, expiresAt }: Extract<Effect, { does: 'request' }>,
  unit: WriteTransaction,
): Promise<void> {
  const { now, transaction } = unit
  const { id: runId, organizationId, createdBy } = run
  const { connectorId, tool, arguments: given, counterparty } = action
  const actionHash = hashOfAction(action)
  await job.policyRequests.insert(
    {
      ...{ id, organizationId, runId, stepId: stepIdOf(runId, step.key), counterparty: counterparty!, connectorId: connectorId!, tool: tool! },
      ...{ arguments: given, actionHash, purpose: step.purpose, expiresAt, nextAt: now, createdAt: now, updatedAt: now, createdBy },
    },
    transaction,
  )
  await writeFeed(
    job,
    run,
    { kind: 'POLICY_REQUESTED', title: titleOf({ tool: tool!, counterparty: counterparty! }), actor: createdBy, userId: run.startedById },
    unit,
  )
}

/** What the work feed says about a request. */
export const titleOf = ({ tool, counterparty }: Pick<PolicyRequestRow, 'tool' | 'counterparty'>): string => `${tool} at ${counterparty}`

/** Ends a request to which nobody answered in time, or whose run has ended: nothing that is said later counts. */
export async function closeRequest(job: Work, { does, policyId }: Extract<Effect, { policyId: string }>, unit: WriteTransaction): Promise<void> {
  const { now, transaction } = unit
  const request = await job.policyRequests.lock(policyId, transaction)
  if (!request || (request.decision !== 'PENDING' && request.decision !== 'HOLD')) return
  const closed = { nextAt: null, updatedAt: now, version: request.version + 1 }
  if (does === 'drop') {
    await job.policyRequests.update(request, closed, transaction)
    return
  }
  await job.policyRequests.update(request, { ...closed, decision: 'EXPIRED', decidedAt: now }, transaction)
  await noteDecision(job, { ...request, decision: 'EXPIRED' }, unit)
}

/** Writes into the work feed and the audit log how a request was decided. */
export async function noteDecision(job: Work, request: PolicyRequestRow, unit: WriteTransaction): Promise<void> {
  const { runId, organizationId, id, decision, counterparty, actionHash } = request
  await writeFeed(job, { id: runId, organizationId }, { kind: 'POLICY_DECIDED', title: `${titleOf(request)}: ${decision}`, actor: 'system' }, unit)
  const details = { decision, counterparty, actionHash }
  await record(job, { tenantId: organizationId, action: 'policy_request.decided', subjectId: id, actor: 'system', details }, unit)
}
