import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireText } from '../../../../platform/ids.ts'
import { personOf } from '../../../viewer.ts'
import type { Deciding } from '../../engines/run/approvals.ts'
import { hashOfAction } from '../../engines/run/canonical.ts'
import { limits } from '../../engines/run/plan.ts'
import type { DecideApprovalInput } from '../../resolvers.generated.ts'
import type { ApprovalRow, DecisionRow } from '../../stores/run/approval.ts'
import { readJson } from '../plan.ts'

const statusOf = { APPROVE: 'APPROVED', EDIT: 'EDITED', REJECT: 'REJECTED', RESPOND: 'RESPONDED' } as const
const most = { comment: 2_000, response: 4_000 }

/** Who decides, and who began the run in question. */
export interface Decider {
  readonly actor: string
  /** The person whose decision it is; null for keys, and for links that are nobody's in particular. */
  readonly userId: string | null
  /** The person who began the run; null where none did. */
  readonly startedById: string | null
}

/** Whether an approval is for certain people, or for several. */
export const isRestricted = ({ approverIds, required }: Pick<ApprovalRow, 'approverIds' | 'required'>): boolean => approverIds !== null || required > 1

/**
 * Requires that somebody may decide.
 * @throws FORBIDDEN, reason NOT_APPROVER: of an approval for certain people or for several, to everybody else, and where its risk is HIGH to
 *   whoever began the run
 */
export function requireApprover(approval: Pick<ApprovalRow, 'approverIds' | 'required' | 'risk'>, { userId, startedById }: Omit<Decider, 'actor'>): void {
  if (!isRestricted(approval)) return
  const { approverIds, risk } = approval
  const isNamed = userId !== null && (approverIds === null || approverIds.includes(userId))
  if (isNamed && !(risk === 'HIGH' && userId === startedById)) return
  const why = isNamed ? 'whoever began this run does not decide on a step of high risk' : 'other people decide on this approval'
  throw new DomainError('FORBIDDEN', `You are no approver: ${why}.`, { reason: 'NOT_APPROVER' })
}

/** The person whose decision one is. */
export const deciderOf = ({ actor, userId }: Pick<DecisionRow, 'actor' | 'userId'>): string | null => userId ?? personOf(actor)

/** The people who have approved these arguments. */
const approvedBy = ({ decisions }: Pick<ApprovalRow, 'decisions'>, hash: string): ReadonlySet<string> =>
  new Set(
    decisions.flatMap(each => {
      const person = each.argumentsHash === hash && (each.decision === 'APPROVE' || each.decision === 'EDIT') ? deciderOf(each) : null
      return person === null ? [] : [person]
    }),
  )

/**
 * Decides on an approval as somebody wants it. It stays PENDING until enough people have approved the same arguments.
 * @throws CONFLICT, reason DECIDED with `status`, for one that was decided or has expired, and for a person who has approved these arguments;
 *   reason HASH_MISMATCH for other arguments than those that the decider saw; FORBIDDEN, reason NOT_APPROVER; BAD_USER_INPUT for an answer
 *   that is not allowed, or incomplete
 */
export function decide(approval: ApprovalRow, input: Omit<DecideApprovalInput, 'id'>, decider: Decider, now: Date): Deciding {
  const { status, expiresAt, arguments: present, argumentsHash, connectorId, tool, counterparty, required } = approval
  if (status !== 'PENDING' || expiresAt <= now)
    throw new DomainError('CONFLICT', 'This approval was decided, or has expired: read it again.', { reason: 'DECIDED', status })
  requireApprover(approval, decider)
  const { decision } = input
  if (!approval.allowed.includes(decision))
    throw new DomainError('BAD_USER_INPUT', `This approval takes ${approval.allowed.join(', ')}, not ${decision}.`, { field: 'decision' })
  if (input.argumentsHash !== argumentsHash)
    throw new DomainError('CONFLICT', 'argumentsHash is not that of the present arguments: read the approval again before you decide.', {
      reason: 'HASH_MISMATCH',
    })
  if (approval.decisions.length >= limits.approval.decisions - 1 && decision === 'EDIT')
    throw new DomainError('CONFLICT', `${limits.approval.decisions} decisions were given: approve the present arguments, or reject them.`)
  if (decision === 'EDIT' && input.arguments === undefined)
    throw new DomainError('BAD_USER_INPUT', 'EDIT brings the arguments that are executed instead.', { field: 'arguments' })
  const given = decision === 'EDIT' ? readJson(input.arguments, 'arguments') : present
  const hash = hashOfAction({ connectorId, tool, counterparty, arguments: given })
  const response = decision === 'RESPOND' ? requireText(input.response ?? '', 'response', most.response) : null
  const { actor, userId } = decider
  return {
    ...{ decision, actor, userId, response, arguments: given, argumentsHash: hash },
    status: statusAfter(approval, decision, hash, userId, required),
    comment: readText(input.comment, 'comment', most.comment),
  }
}

function statusAfter(approval: ApprovalRow, decision: DecideApprovalInput['decision'], hash: string, userId: string | null, required: number) {
  if (required === 1 || decision === 'REJECT' || decision === 'RESPOND') return statusOf[decision]
  const before = approvedBy(approval, hash)
  if (before.has(userId!))
    throw new DomainError('CONFLICT', 'You have approved these arguments: another person has to.', { reason: 'DECIDED', status: 'PENDING' })
  if (before.size + 1 < required) return 'PENDING'
  return decision === 'EDIT' || approval.decisions.some(each => each.decision === 'EDIT') ? 'EDITED' : 'APPROVED'
}
