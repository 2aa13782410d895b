import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { findMade, writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import { PersonOfHouseholdDocument } from '../../ask.generated.ts'
import type { Context } from '../../context.ts'
import { registration } from '../../registration.ts'
import type { InviteToHouseholdInput } from '../../resolvers.generated.ts'
import type { HouseholdInvitationRow } from '../../stores/dashboard/household.ts'
import { closeItem } from './items.ts'
import { countInvitation } from './limits.ts'
import { requireHousehold } from './members.ts'
import {
  invitationMail,
  invitedMs,
  noInvitation,
  readAddress,
  requireMember,
  requireOpen,
  requirePersonal,
  requireRole,
  requireRoomForHousehold,
  requireRoomForInvitation,
  requireRoomForMember,
} from './rules.ts'

/** How identity knows the viewer: the verified mail address, null without one, and the name. */
export async function knownAs({ ask, viewer, leaving }: Context): Promise<{ readonly email: string | null; readonly name: string }> {
  const { contactOf, user } = await ask(PersonOfHouseholdDocument, { id: requirePersonal(viewer) }, { appId: registration.appId, viewer, signal: leaving })
  return { email: contactOf ?? null, name: user?.name ?? '' }
}

/** Invites an address to a household of the viewer, and has it mailed. */
export async function invite(context: Context, input: InviteToHouseholdInput): Promise<HouseholdInvitationRow> {
  const { viewer, households, householdInvitations: invitations, mail, dashboardUrl, invitationAlarm } = context
  const userId = requirePersonal(viewer)
  const [email, { role }] = [readAddress(input.email), input]
  const { id: householdId, name } = await requireHousehold(context, input.householdId, 'householdId')
  const { row } = await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const own = requireMember(await households.lockMembers(householdId, transaction), userId, householdId)
      requireRole(own, ['OWNER', 'ADULT'], 'Inviting others')
      if (role === 'OWNER') requireRole(own, ['OWNER'], 'Inviting an owner')
      const pending = await invitations.lockPending(householdId, transaction)
      const present = pending.find(each => each.email === email)
      const id = present?.id ?? newId(now)
      const idempotency = readIdempotency(input)
      const earlier = idempotency && (await findMade(context[writing], invitations, { tenantId: userId, id, ...idempotency }, unit))
      if (earlier ?? present) return { row: (earlier ?? present)!, isNew: false }
      requireRoomForInvitation(pending.length)
      await countInvitation(context, userId, email, unit)
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      const made = { id, householdId, householdName: name, email, role, status: 'PENDING' as const, expiresAt: new Date(now.getTime() + invitedMs) }
      const row = await invitations.insert({ ...made, settleAt: now, ...stamps }, transaction)
      transaction.afterCommit(() => invitationAlarm.ring())
      const content = invitationMail(name, own.name, dashboardUrl)
      await mail.queue({ key: `household-invitation:${id}`, kind: 'household-invitation', organizationId: null, to: email, ...content }, unit)
      return { row, isNew: true }
    },
    audit: ({ row, isNew }) => (isNew ? { tenantId: userId, action: 'household_invitation.created', subjectId: row.id } : null),
  })
  return row
}

/** Answers an invitation to the viewer's verified address, once. @throws NOT_FOUND for another address; CONFLICT, reason DECIDED or LIMIT */
export async function answer(context: Context, given: string, status: 'ACCEPTED' | 'DECLINED'): Promise<HouseholdInvitationRow> {
  const { viewer, households, householdInvitations: invitations } = context
  const userId = requirePersonal(viewer)
  const id = requireId(given, 'id')
  const { email, name } = await knownAs(context)
  const isTheirs = (row: HouseholdInvitationRow | null): row is HouseholdInvitationRow => row !== null && email !== null && row.email === email
  const found = await invitations.ofId(id)
  if (!isTheirs(found)) throw noInvitation(id)
  let announce: (() => void) | undefined
  return write(context, {
    async run(unit) {
      const { transaction, now } = unit
      // A person, a household, then the invitation: everybody locks in this order.
      const count = status === 'ACCEPTED' ? await households.lockCount(userId, transaction) : 0
      const members = await households.lockMembers(found.householdId, transaction)
      const row = await invitations.lockId(id, transaction)
      if (!isTheirs(row)) throw noInvitation(id)
      requireOpen(row, now)
      if (status === 'ACCEPTED') {
        const { householdId, role } = row
        if (members.some(member => member.userId === userId))
          throw new DomainError('CONFLICT', 'You are a member of the household already.', { reason: 'DECIDED' })
        requireRoomForHousehold(count)
        requireRoomForMember(members.length)
        await households.join({ householdId, userId, name, role, joinedAt: now }, transaction)
        await households.touch(householdId, now, transaction)
      }
      announce = await closeItem(context, row, unit)
      return invitations.update(row, { status, settleAt: null, updatedAt: now, version: row.version + 1 }, transaction)
    },
    audit: row => ({ tenantId: userId, action: `household_invitation.${status.toLowerCase()}`, subjectId: row.id }),
    announce: () => announce?.(),
  })
}

/** Takes an invitation back, once. @throws NOT_FOUND for who is not in the household; FORBIDDEN; CONFLICT, reason DECIDED */
export async function withdraw(context: Context, given: string): Promise<HouseholdInvitationRow> {
  const { viewer, households, householdInvitations: invitations } = context
  const userId = requirePersonal(viewer)
  const id = requireId(given, 'id')
  const found = await invitations.ofId(id)
  if (!found) throw noInvitation(id)
  let announce: (() => void) | undefined
  const { row } = await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      const own = (await households.lockMembers(found.householdId, transaction)).find(each => each.userId === userId)
      const present = await invitations.lockId(id, transaction)
      if (!own || !present) throw noInvitation(id)
      requireRole(own, present.role === 'OWNER' ? ['OWNER'] : ['OWNER', 'ADULT'], 'Taking an invitation back')
      if (present.status === 'WITHDRAWN') return { row: present, isNew: false }
      requireOpen(present, now)
      announce = await closeItem(context, present, unit)
      const changes = { status: 'WITHDRAWN' as const, settleAt: null, updatedAt: now, version: present.version + 1 }
      return { row: await invitations.update(present, changes, transaction), isNew: true }
    },
    audit: ({ row, isNew }) => (isNew ? { tenantId: userId, action: 'household_invitation.withdrawn', subjectId: row.id } : null),
    announce: () => announce?.(),
  })
  return row
}
