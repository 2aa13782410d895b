import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import { isPerson, type Viewer } from '../../../viewer.ts'
import type { ApprovalMode, BrandRow } from '../../stores/brand.ts'
import type { PostApproval, PostRow, PostStatus } from '../../stores/post.ts'
import { type Content, contentOf } from '../../stores/posts/version.ts'

export type Decision = 'APPROVE' | 'REQUEST_CHANGES' | 'REJECT' | 'HOLD' | 'RELEASE'
export type ApprovalVerb = 'SUBMIT' | Decision

/** Transitions of a post's approval. Rows are states, columns are verbs; holding and releasing change no state. */
export const approvals = {
  NONE: { SUBMIT: 'PENDING' },
  PENDING: { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', REJECT: 'REJECTED' },
  APPROVED: { REQUEST_CHANGES: 'CHANGES_REQUESTED', REJECT: 'REJECTED' },
  CHANGES_REQUESTED: { SUBMIT: 'PENDING', APPROVE: 'APPROVED', REJECT: 'REJECTED' },
  REJECTED: { SUBMIT: 'PENDING', APPROVE: 'APPROVED' },
} as const satisfies Record<PostApproval, Partial<Record<ApprovalVerb, PostApproval>>>

/** Returns the possible verbs for a post in this state. */
export function approvalMoves(post: Omit<Judged, 'deliveryPhase'>, mode: ApprovalMode): readonly ApprovalVerb[] {
  if (post.status === 'PUBLISHED') return []
  const verbs = (Object.keys(approvals[post.approval]) as ApprovalVerb[]).filter(verb => verb !== 'SUBMIT' || mode !== 'NONE')
  return [...verbs, post.held ? 'RELEASE' : 'HOLD']
}

type Judged = Pick<PostRow, 'status' | 'approval' | 'held' | 'deliveryPhase'>

const inWords: Readonly<Record<ApprovalVerb, string>> = {
  SUBMIT: 'submitted',
  APPROVE: 'approved',
  REQUEST_CHANGES: 'sent back for changes',
  REJECT: 'rejected',
  HOLD: 'held',
  RELEASE: 'released',
}

/**
 * Returns the changes of a verb; none for a post that is held, or released, already.
 * @throws CONFLICT: SENDING, because a decision can no longer prevent the publication; ILLEGAL_MOVE with the state, the
 * verb and the possible verbs
 */
export function judge(post: Judged, verb: ApprovalVerb, mode: ApprovalMode): Partial<Pick<PostRow, 'approval' | 'held'>> {
  if (post.deliveryPhase === 'SENDING')
    throw new DomainError('CONFLICT', `The post is being sent at this moment and cannot be ${inWords[verb]}: wait for its outcome.`, {
      reason: 'SENDING',
      status: post.status,
      deliveryPhase: post.deliveryPhase,
    })
  if (post.status !== 'PUBLISHED') {
    if (verb === 'HOLD' || verb === 'RELEASE') return { held: verb === 'HOLD' }
    const next = (approvals[post.approval] as Partial<Record<ApprovalVerb, PostApproval>>)[verb]
    if (next && (verb !== 'SUBMIT' || mode !== 'NONE')) return { approval: next }
  }
  throw illegal(post, verb, mode)
}

function illegal(post: Judged, verb: ApprovalVerb, mode: ApprovalMode): DomainError {
  const possible = approvalMoves(post, mode)
  const why =
    post.status === 'PUBLISHED'
      ? `A PUBLISHED post cannot be ${inWords[verb]}: it is out.`
      : verb === 'SUBMIT' && mode === 'NONE'
        ? 'Posts of this brand need no approval, so none can be submitted: change its approval mode first.'
        : `A post whose approval is ${post.approval} cannot be ${inWords[verb]}. Possible: ${possible.join(', ')}.`
  return new DomainError('CONFLICT', why, { reason: 'ILLEGAL_MOVE', from: post.approval, verb, possible })
}

/**
 * Checks that a person may decide on a post: owners and admins of the organization, and the brand's approvers. Only
 * owners may decide on their own posts.
 * @throws FORBIDDEN
 */
export function requireDecides(viewer: Viewer, { approverIds }: Pick<BrandRow, 'approverIds'>, { authorId }: Pick<PostRow, 'authorId'>): void {
  const isOwner = viewer.roles.includes('owner')
  const decides = isPerson(viewer) && (isOwner || viewer.roles.includes('admin') || approverIds.includes(viewer.userId))
  if (!decides) throw new DomainError('FORBIDDEN', 'Owners and admins of the organization and the brand’s approvers decide, as persons: ask one of them.')
  if (!isOwner && authorId === viewer.userId) throw new DomainError('FORBIDDEN', 'Only an owner may decide on their own post: ask another approver.')
}

/** Maximum characters of a comment. */
export const longestComment = 2_000

/**
 * Reads the comment of a step; null for none.
 * @throws BAD_USER_INPUT when it is too long, and when a rejection or a request for changes has none
 */
export function readComment(given: string | null | undefined, verb: ApprovalVerb): string | null {
  const comment = readText(given, 'comment', longestComment)
  if (!comment && (verb === 'REQUEST_CHANGES' || verb === 'REJECT'))
    throw new DomainError('BAD_USER_INPUT', 'comment is missing: say what has to change, or why not.', { field: 'comment' })
  return comment
}

/**
 * Whether a change affects the content that approvers have seen, and so needs a new approval. Times and tags are not
 * part of it.
 */
export const differs = (before: Content, after: Content): boolean => {
  const { visibility: _before, ...was } = contentOf(before)
  const { visibility: _after, ...is } = contentOf(after)
  return !isDeepStrictEqual(was, is)
}

/**
 * Returns the approval of a post after a change other than a request or a decision.
 * @param isScheduled whether the post is scheduled after the change
 */
export function approvalAfter(
  post: { readonly approval: PostApproval },
  changed: { isScheduled: boolean; isDifferent: boolean },
  mode: ApprovalMode,
): PostApproval {
  const { approval } = post
  if (mode === 'REQUIRED' && approval === 'NONE' && changed.isScheduled) return 'PENDING'
  if (mode !== 'NONE' && approval === 'APPROVED' && changed.isDifferent) return 'PENDING'
  return approval
}

/**
 * Checks that a post may be published at once.
 * @throws CONFLICT, reason APPROVAL_REQUIRED
 */
export function requireApproved({ approval, status }: { approval: PostApproval; status: PostStatus }, mode: ApprovalMode): void {
  if (mode !== 'REQUIRED' || approval === 'APPROVED') return
  throw new DomainError('CONFLICT', `The brand sends only approved posts, and this one’s approval is ${approval}: submit it, or schedule it.`, {
    reason: 'APPROVAL_REQUIRED',
    approval,
    status,
  })
}

/** Returns a post's approval after its brand's approval mode has changed. */
export function approvalIn({ approval, status }: Pick<PostRow, 'approval' | 'status'>, mode: ApprovalMode): PostApproval {
  if (mode === 'REQUIRED' && approval === 'NONE' && status === 'SCHEDULED') return 'PENDING'
  if (mode === 'NONE' && approval === 'PENDING' && status !== 'PUBLISHED') return 'NONE'
  return approval
}
