import { DomainError } from '../../../../platform/errors.ts'
import type { Opened } from '../../action-item/rules.ts'
import type { AccessRequestRow } from '../../stores/access-request.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'

/** Maximum characters of a reason or a comment. */
export const maxReason = 500

/** Key of the action item for a request. */
export const keyOf = ({ id }: Pick<AccessRequestRow, 'id'>): string => `access_request:${id}`

/**
 * Returns the action item of a request, for owners and admins.
 * @param name of the person; null for a key or a service
 */
export const waiting = (
  { id, organizationId, reason }: Pick<AccessRequestRow, 'id' | 'organizationId' | 'reason'>,
  { title }: Pick<CatalogEntryRow, 'title'>,
  name: string | null,
  now: Date,
  publicUrl: string,
): Opened => ({
  ...{ kind: 'ACCESS_REQUEST', severity: 'NORMAL', organizationId, audience: 'managers', userId: null, subjectId: id },
  ...{ body: reason, dueAt: null, openedAt: now },
  title: `${name ?? 'A program of the organization'} asks for ${title}`,
  url: `${publicUrl}/launcher/api/access-requests`,
})

function requirePending({ status }: Pick<AccessRequestRow, 'status'>): void {
  if (status === 'PENDING') return
  throw new DomainError('CONFLICT', `The request is ${status.toLowerCase()} already: read it again.`, { reason: 'DECIDED' })
}

/** Returns the changes by a decision. @throws CONFLICT, reason DECIDED */
export function deciding(
  request: AccessRequestRow,
  decision: 'APPROVE' | 'DECLINE',
  { userId, comment, now }: { readonly userId: string | null; readonly comment: string | null; readonly now: Date },
): Partial<AccessRequestRow> {
  requirePending(request)
  return { status: decision === 'APPROVE' ? 'APPROVED' : 'DECLINED', decidedBy: userId, comment, decidedAt: now }
}

/**
 * Returns the changes when a request is taken back.
 * @param actor who takes it back, as audit entries name them
 * @throws FORBIDDEN for a request of somebody else; CONFLICT, reason DECIDED
 */
export function withdrawing(request: AccessRequestRow, actor: string, now: Date): Partial<AccessRequestRow> {
  if (request.createdBy !== actor) throw new DomainError('FORBIDDEN', 'Only the person who made a request may withdraw it: decline it instead.')
  if (request.status === 'WITHDRAWN') return {}
  requirePending(request)
  return { status: 'WITHDRAWN', decidedAt: now }
}
