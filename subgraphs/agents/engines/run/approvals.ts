import { record, type WriteTransaction, writeFacts } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import type { ApprovalRow, ApprovalStatus, DecisionRow } from '../../stores/run/approval.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { Verdict } from '../../stores/workflow.ts'
import { closedFacts, openedFacts } from './attention.ts'
import { hashOfAction } from './canonical.ts'
import { stepIdOf } from './records.ts'
import { writeFeed } from './start.ts'
import type { Effect } from './walk.ts'
import type { RunWork } from './work.ts'

type Asking = Extract<Effect, { does: 'ask' }>

/** Asks people for an approval: its row, the feed, and the managers' queue. */
export async function askFor(job: RunWork, run: RunRow, { step, gate, action, id }: Asking, unit: WriteTransaction): Promise<ApprovalRow> {
  const { now, transaction } = unit
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000)
  const approval = await job.approvals.insert(
    {
      ...{ id, organizationId: run.organizationId, runId: run.id, stepId: stepIdOf(run.id, step.key) },
      ...{ kind: step.kind === 'APPROVAL' ? 'QUESTION' : 'ACTION', title: gate.title, description: gate.description, risk: gate.risk },
      ...{ connectorId: action.connectorId, tool: action.tool, counterparty: action.counterparty, arguments: action.arguments },
      ...{ argumentsHash: hashOfAction(action), allowed: gate.allowed, onExpiry: gate.onExpiry, expiresAt: later(gate.expiresInSeconds) },
      ...{ approverIds: gate.approvers ?? null, required: gate.required ?? 1 },
      escalateAt: gate.escalateAfterSeconds === null ? null : later(gate.escalateAfterSeconds),
      ...{ createdAt: now, updatedAt: now, createdBy: run.createdBy },
    },
    transaction,
  )
  await writeFeed(job, run, { kind: 'APPROVAL_REQUESTED', title: gate.title, actor: run.createdBy, userId: run.startedById, approvalId: id }, unit)
  await writeFacts(job, openedFacts(job.publicUrl, approval, run.startedById, now), unit)
  return approval
}

/** A decision as it is given. */
export interface Deciding extends Pick<DecisionRow, 'decision' | 'actor' | 'comment' | 'arguments'> {
  readonly status: ApprovalStatus
  readonly argumentsHash: string
  readonly response?: string | null
  /** The person who decided, where one did. */
  readonly userId?: string | null
}

/** Writes down a decision on a locked approval, with everything that follows but its run. */
export async function decideOn(
  job: Pick<RunWork, 'approvals' | 'workFeed' | 'runs' | 'publicUrl'> & Parameters<typeof record>[0],
  approval: ApprovalRow,
  { status, argumentsHash, response = null, userId = null, ...decision }: Deciding,
  unit: WriteTransaction,
): Promise<ApprovalRow> {
  const { now, transaction } = unit
  const isOver = status !== 'PENDING'
  const decisions = [...approval.decisions, { ...decision, argumentsHash, userId, at: now.toISOString() }]
  const decided = { status, argumentsHash, response, decisions, arguments: decision.arguments, decidedAt: isOver ? now : null }
  const after = await job.approvals.update(approval, { ...decided, updatedAt: now, version: approval.version + 1 }, transaction)
  const line = { kind: 'APPROVAL_DECIDED', title: approval.title, actor: decision.actor, userId, approvalId: approval.id } as const
  await writeFeed(job, { id: approval.runId, organizationId: approval.organizationId }, line, unit)
  await record(job, auditOf(after, decision), unit)
  await writeFacts(job, isOver ? closedFacts(approval) : await factsOfStillPending(job, after, { ...decision, userId }, unit), unit)
  return after
}

/** Whoever has approved is done; after an edit everybody else is asked anew. */
async function factsOfStillPending(
  job: Pick<RunWork, 'runs' | 'publicUrl'>,
  approval: ApprovalRow,
  { decision, userId }: Pick<Deciding, 'decision' | 'userId'>,
  { now, transaction }: WriteTransaction,
): Promise<readonly NewFact[]> {
  const closed = closedFacts(approval, userId ?? null)
  if (decision !== 'EDIT') return closed
  const run = await job.runs.peek(approval.runId, transaction)
  return [...openedFacts(job.publicUrl, approval, run?.startedById ?? null, now), ...closed]
}

const auditOf = ({ id, organizationId, argumentsHash }: ApprovalRow, { decision, actor }: { decision: Verdict; actor: string }) => ({
  ...{ tenantId: organizationId, action: 'approval.decided', subjectId: id, details: { decision, argumentsHash } },
  ...(actor !== 'system' && { actor }),
})

/** What the clock, or a cancelled run, makes of an approval. @returns the approval as it stands then; null when it was decided meanwhile */
export async function overtake(
  job: RunWork,
  { does, approvalId }: Extract<Effect, { approvalId: string }>,
  unit: WriteTransaction,
): Promise<ApprovalRow | null> {
  const { now, transaction } = unit
  const approval = await job.approvals.lock(approvalId, transaction)
  if (approval?.status !== 'PENDING') return null
  if (does === 'escalate') {
    const urgent = await job.approvals.update(approval, { escalatedAt: now, updatedAt: now, version: approval.version + 1 }, transaction)
    const run = await job.runs.peek(approval.runId, transaction)
    await writeFacts(job, openedFacts(job.publicUrl, urgent, run?.startedById ?? null, now), unit)
    return urgent
  }
  const kept = { arguments: approval.arguments, argumentsHash: approval.argumentsHash, actor: 'system', comment: null }
  if (does === 'expire') return decideOn(job, approval, { ...kept, status: 'EXPIRED', decision: approval.onExpiry }, unit)
  const withdrawn = { status: 'CANCELLED', decidedAt: now, updatedAt: now, version: approval.version + 1 } as const
  const after = await job.approvals.update(approval, withdrawn, transaction)
  await writeFacts(job, closedFacts(approval), unit)
  return after
}
