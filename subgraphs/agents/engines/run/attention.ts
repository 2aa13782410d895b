import type { NewFact } from '../../../store/fact-kinds.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'
import type { RunRow } from '../../stores/run/run.ts'

/** Where a person decides on an approval. */
export const addressOf = (publicUrl: string, { id }: Pick<ApprovalRow, 'id'>): string => `${publicUrl}/agents/api/approvals/${id}`

type Watched = Pick<ApprovalRow, 'id' | 'approverIds'>

/** The keys of an approval's items: one for all managers, or one for each approver. */
const keysOf = ({ id, approverIds }: Watched): readonly string[] => approverIds?.map(userId => `approval:${id}:${userId}`) ?? [`approval:${id}`]

/**
 * The facts that an approval waits: for managers, or for each of its approvers alone.
 * @param startedById who began the run: where the risk is high, that person does not decide and is not asked
 */
export function openedFacts(publicUrl: string, approval: ApprovalRow, startedById: string | null, at: Date): readonly NewFact[] {
  const { approverIds, organizationId, risk, title } = approval
  const about = { kind: 'APPROVAL_PENDING', organizationId, subjectId: approval.id, title, url: addressOf(publicUrl, approval) } as const
  const urgency = (risk === 'HIGH' || approval.escalatedAt !== null) && ({ severity: 'HIGH' } as const)
  const shown = { ...about, at: at.toISOString(), dueAt: approval.expiresAt.toISOString(), ...urgency }
  if (approverIds === null) return [{ kind: 'attention.opened', body: { ...shown, key: `approval:${approval.id}`, audience: 'managers' } }]
  return approverIds
    .filter(userId => !(risk === 'HIGH' && userId === startedById))
    .map(userId => ({ kind: 'attention.opened', body: { ...shown, key: `approval:${approval.id}:${userId}`, audience: 'person', userId } }))
}

/** The facts that nobody needs to decide any more; of one person alone, who has decided while others still may. */
export const closedFacts = (approval: Watched, userId?: string | null): readonly NewFact[] =>
  keysOf(approval).flatMap(key => (userId === undefined || key.endsWith(`:${userId}`) ? [{ kind: 'attention.closed' as const, body: { key } }] : []))

/** The fact that nobody knows what became of a step. */
export const unknownFact = (publicUrl: string, run: RunRow, stepId: string, at: Date): NewFact => ({
  kind: 'attention.opened',
  body: {
    ...{ key: `step:${stepId}`, kind: 'STEP_UNKNOWN', organizationId: run.organizationId, subjectId: stepId, audience: 'managers' },
    ...{ title: `Nobody knows whether step ${run.failureStepKey} happened`, url: `${publicUrl}/agents/api/runs/${run.id}`, at: at.toISOString() },
  },
})

/** The fact that a person has told what became of a step. */
export const resolvedFact = (stepId: string): NewFact => ({ kind: 'attention.closed', body: { key: `step:${stepId}` } })
