import { DomainError } from '../../../../platform/errors.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import type { Quotas } from '../../context.ts'
import type { InvitationStatus as StatusToGraph } from '../../resolvers.generated.ts'
import { type InvitationRow, type InvitationStatus, type Standing, statusAt } from '../../stores/invitation.ts'

/** Path of the invitation page; a mail's link adds `?code=`. */
export const invitationPath = '/identity/invitation'

export const statusToGraph = {
  pending: 'PENDING',
  accepted: 'ACCEPTED',
  declined: 'DECLINED',
  revoked: 'REVOKED',
  expired: 'EXPIRED',
} as const satisfies Record<InvitationStatus, StatusToGraph>

export const toStatus = (status: StatusToGraph): InvitationStatus => status.toLowerCase() as InvitationStatus

/** @returns the address in stored form @throws BAD_USER_INPUT for one that could never sign in */
export function readAddress(email: unknown): string {
  if (isMailAddress(email)) return toStored(email)
  throw new DomainError('BAD_USER_INPUT', `email takes an address ${mailAddressSentence}.`, { field: 'email' })
}

/**
 * Checks that an address may be invited.
 * @throws CONFLICT, reason MEMBER, PENDING or QUOTA; RATE_LIMITED past a day's number
 */
export function requireInvitable(standing: Standing, { invitationsADay, pendingInvitations }: Quotas, now: Date): void {
  if (standing.isMember)
    throw new DomainError('CONFLICT', 'A person with this address is a member already: change the roles of the membership instead.', {
      field: 'email',
      reason: 'MEMBER',
    })
  if (standing.isWaiting)
    throw new DomainError('CONFLICT', 'An invitation waits for this address already: send it again, or revoke it first.', { field: 'email', reason: 'PENDING' })
  const most = { inAll: pendingInvitations, aDay: invitationsADay }
  // The limit of open invitations is a lasting refusal, the daily one temporary.
  requireQuota(standing, most, 'invitations of the organization', 'revoke one that nobody will accept', now)
  // Counted by person too, so that founding another organization gives no second quota.
  const own = { inAll: 0, today: standing.madeToday, todaySince: standing.madeSince }
  requireQuota(own, { inAll: Infinity, aDay: invitationsADay }, 'invitations that you made, in all organizations together,', '', now)
}

const why: Readonly<Record<InvitationStatus, string>> = {
  pending: 'waits',
  accepted: 'was accepted',
  declined: 'was declined',
  revoked: 'was revoked',
  expired: 'has expired',
}

/**
 * Checks that an invitation is pending.
 * @param remedy what to do instead
 * @throws CONFLICT, with the status as reason
 */
export function requirePending(invitation: Pick<InvitationRow, 'status' | 'expiresAt'>, now: Date, remedy: string): void {
  const status = statusAt(invitation, now)
  if (status === 'pending') return
  throw new DomainError('CONFLICT', `The invitation ${why[status]}: ${remedy}.`, { reason: statusToGraph[status] })
}

/** The key under which the launcher knows an invitation. */
const attentionKey = (id: string): string => `invitation:${id}`

/** Returns the attention fact of an invitation, once the person of its address is known. */
export const opensAttention = (invitation: InvitationRow, userId: string, organization: string, publicUrl: string): NewFact => ({
  kind: 'attention.opened',
  body: {
    key: attentionKey(invitation.id),
    kind: 'INVITATION_RECEIVED',
    organizationId: null,
    subjectId: invitation.id,
    title: `You are invited to join ${organization}`,
    url: `${publicUrl}${invitationPath}`,
    at: invitation.createdAt.toISOString(),
    audience: 'person',
    userId,
    dueAt: invitation.expiresAt.toISOString(),
  },
})

/**
 * Returns the fact that closes an invitation's attention: the same whether any was opened, so that it does not reveal
 * whom an address belongs to.
 */
export const closesAttention = (id: string): NewFact => ({ kind: 'attention.closed', body: { key: attentionKey(id) } })
