import { DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction, type Writing } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { change } from '../../../store/write.ts'
import { requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { announceViewer } from '../../session/announce.ts'
import type { InvitationRow } from '../../stores/invitation.ts'
import type { MembershipRow } from '../../stores/membership.ts'
import { isAdded, requireMemberQuota } from '../rules.ts'
import { closesAttention, requirePending } from './rules.ts'

const unchanged: Partial<InvitationRow> = {}

type Joining = Writing & Pick<Context, 'memberships' | 'codes' | 'quotas'>

/**
 * Makes the person of an invitation a member, if not yet; requires the lock on the organization and the invitation.
 * @returns the new membership; null where there was one
 * @throws CONFLICT, reason QUOTA
 */
export async function join(context: Joining, { organizationId, roles }: InvitationRow, userId: string, unit: WriteTransaction): Promise<MembershipRow | null> {
  const { memberships, quotas } = context
  const { transaction, now } = unit
  if (await memberships.ofPerson(organizationId, userId, transaction)) return null
  requireMemberQuota(await memberships.countOf(organizationId, transaction), quotas.membersAnOrganization)
  const stamps = { createdAt: now, updatedAt: now, createdBy: `user:${userId}` }
  return memberships.insert({ organizationId, id: newId(now), userId, roles: [...roles], ...stamps }, transaction)
}

/** Writes the consequences of an accepted invitation within its transaction. */
export async function joined(context: Joining, { id }: InvitationRow, membership: MembershipRow | null, userId: string, unit: WriteTransaction): Promise<void> {
  await context.codes.end(id, ['invitation'], unit.transaction)
  if (!membership) return
  const { organizationId, id: subjectId } = membership
  await record(context, { tenantId: organizationId, action: 'membership.added', subjectId, actor: `user:${userId}`, personId: userId }, unit)
}

/** Returns the facts about a person who joined. */
export const factsOfJoining = (invitation: InvitationRow, membership: MembershipRow | null): readonly NewFact[] => [
  closesAttention(invitation.id),
  ...(membership ? [isAdded({ ...membership, kind: 'human' })] : []),
]

/** Finds an invitation that the caller has received, and locks its organization, so that concurrent answers wait. */
async function hold({ viewer, receivedInvitations, invitingOrganizations }: Context, id: string, { transaction }: WriteTransaction): Promise<void> {
  const organizationId = await receivedInvitations.organizationOf(requireId(id, 'id'), requirePerson(viewer), transaction)
  if (!organizationId) throw new DomainError('NOT_FOUND', 'There is no such invitation for the verified address of your account.', { field: 'id' })
  await invitingOrganizations.lock(organizationId, transaction)
}

/** Accepts an invitation as the caller. @throws NOT_FOUND, CONFLICT */
export function acceptInvitation(context: Context, id: string): Promise<InvitationRow> {
  const userId = requirePerson(context.viewer)
  let membership: MembershipRow | null = null
  return change(context, {
    of: context.receivedInvitations,
    id,
    before: unit => hold(context, id, unit),
    async decide(invitation, unit) {
      if (invitation.status === 'accepted') return unchanged
      requirePending(invitation, unit.now, 'ask to be invited again')
      membership = await join(context, invitation, userId, unit)
      return { status: 'accepted' as const }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'invitation.accepted', subjectId: after.id, personId: userId }),
    facts: ({ after }) => factsOfJoining(after, membership),
    wake: ({ after }, unit) => joined(context, after, membership, userId, unit),
    announce: () => announceViewer(context.events, userId),
  })
}

/** Declines an invitation. @throws NOT_FOUND, CONFLICT */
export function declineInvitation(context: Context, id: string): Promise<InvitationRow> {
  const userId = requirePerson(context.viewer)
  return change(context, {
    of: context.receivedInvitations,
    id,
    before: unit => hold(context, id, unit),
    decide(invitation, { now }) {
      if (invitation.status === 'declined') return unchanged
      requirePending(invitation, now, 'there is nothing to decline')
      return { status: 'declined' as const }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'invitation.declined', subjectId: after.id, personId: userId }),
    facts: ({ after }) => [closesAttention(after.id)],
    wake: ({ after }, { transaction }) => context.codes.end(after.id, ['invitation'], transaction),
  })
}
