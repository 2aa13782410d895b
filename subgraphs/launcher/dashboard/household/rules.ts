import { DomainError } from '../../../../platform/errors.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import { requirePerson, type Viewer } from '../../../viewer.ts'
import type { Opened } from '../../action-item/rules.ts'
import type { HouseholdInvitationRow, HouseholdMemberRow, HouseholdRole } from '../../stores/dashboard/household.ts'

/** Maximum members of a household, of its open invitations, households of a person, and characters of a name. */
export const max = { members: 10, invitations: 10, households: 5, name: 80, ofPerson: 50 } as const

/** How long an invitation stands, in ms. */
export const invitedMs = 7 * 86_400_000

/** The person who asks. @throws CONFLICT, reason CONTEXT, in an organization; FORBIDDEN for who is no person */
export function requirePersonal(viewer: Viewer): string {
  const userId = requirePerson(viewer)
  if (viewer.organizationId !== null || viewer.context !== 'personal')
    throw new DomainError('CONFLICT', 'Households belong to people, not to organizations: switch to personal context first.', { reason: 'CONTEXT' })
  return userId
}

/** Error for a household whose member the viewer is not, as for one that there is not. */
export const noHousehold = (id: string): DomainError => new DomainError('NOT_FOUND', `You are in no household ${id}.`, { id })
/** Error for an invitation to somebody else, as for one that there is not. */
export const noInvitation = (id: string): DomainError => new DomainError('NOT_FOUND', `You have no invitation ${id}.`, { id })

const limit = (message: string): DomainError => new DomainError('CONFLICT', message, { reason: 'LIMIT' })

type Member = Pick<HouseholdMemberRow, 'userId' | 'role'>

/** The viewer's membership. @throws NOT_FOUND for who is no member */
export function requireMember<M extends Member>(members: readonly M[], userId: string, householdId: string): M {
  const member = members.find(each => each.userId === userId)
  if (!member) throw noHousehold(householdId)
  return member
}

/** Checks that a member has one of the roles. @throws FORBIDDEN */
export function requireRole({ role }: Pick<Member, 'role'>, roles: readonly HouseholdRole[], what: string): void {
  if (!roles.includes(role)) throw new DomainError('FORBIDDEN', `${what} takes ${roles.join(' or ')} of the household: ask one of them.`)
}

/** Checks that somebody stays an owner. @throws CONFLICT, reason LAST_OWNER */
export function requireOwnerLeft(members: readonly Member[], userId: string): void {
  const isOwner = members.some(each => each.userId === userId && each.role === 'OWNER')
  if (isOwner && !members.some(each => each.userId !== userId && each.role === 'OWNER'))
    throw new DomainError('CONFLICT', 'A household keeps an owner: make somebody else one first, or delete the household.', { reason: 'LAST_OWNER' })
}

/** Checks that a person may be in one more household. @throws CONFLICT, reason LIMIT */
export function requireRoomForHousehold(count: number): void {
  if (count >= max.households) throw limit(`You are in ${count} households: leave one first.`)
}

/** Checks that a household takes one more member. @throws CONFLICT, reason LIMIT */
export function requireRoomForMember(count: number): void {
  if (count >= max.members) throw limit(`The household has ${count} members: that is all it takes.`)
}

/** Checks that a household takes one more open invitation. @throws CONFLICT, reason LIMIT */
export function requireRoomForInvitation(count: number): void {
  if (count >= max.invitations) throw limit(`${count} invitations are open: wait for an answer first.`)
}

/** Whether an invitation can be answered. */
export const isOpen = ({ status, expiresAt }: Pick<HouseholdInvitationRow, 'status' | 'expiresAt'>, now: Date): boolean =>
  status === 'PENDING' && expiresAt > now

/** The action item of an invitation, for the person who is invited, in personal context. */
export const invitationItem = (
  { id, householdName, expiresAt, createdAt }: Pick<HouseholdInvitationRow, 'id' | 'householdName' | 'expiresAt' | 'createdAt'>,
  userId: string,
  dashboardUrl: string,
): Opened => ({
  ...{ kind: 'HOUSEHOLD_INVITATION', severity: 'NORMAL', organizationId: null, audience: 'person', userId, subjectId: id, body: null },
  ...{ title: `You are invited to the household “${householdName}”`, url: `${dashboardUrl}/settings/households`, dueAt: expiresAt, openedAt: createdAt },
})

/** Checks that an invitation can be answered. @throws CONFLICT, reason DECIDED, for one that was answered or taken back, or has expired */
export function requireOpen({ status, expiresAt }: Pick<HouseholdInvitationRow, 'status' | 'expiresAt'>, now: Date): void {
  if (status === 'WITHDRAWN') throw new DomainError('CONFLICT', 'The invitation was taken back: ask for another one.', { reason: 'DECIDED' })
  if (status !== 'PENDING') throw new DomainError('CONFLICT', 'The invitation was answered already.', { reason: 'DECIDED' })
  if (expiresAt <= now) throw new DomainError('CONFLICT', 'The invitation has expired: ask for another one.', { reason: 'DECIDED' })
}

/** Returns an address in stored form. @throws BAD_USER_INPUT for one that no account can have */
export function readAddress(given: string): string {
  const email = given.trim()
  if (isMailAddress(email)) return toStored(email)
  throw new DomainError('BAD_USER_INPUT', `email is no mail address: it is ${mailAddressSentence}.`, { field: 'email' })
}

/** The mail to an invited address. Names that people chose stand in quotes, on one line. */
export const invitationMail = (household: string, inviter: string, dashboardUrl: string) => ({
  subject: 'You are invited to a household',
  text: `“${inviter}” invites you to the household “${household}”.\n\nAccept or decline it within seven days, in personal context:\n${dashboardUrl}/settings/households\n`,
})
