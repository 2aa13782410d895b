import { requireId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import type { ChangeHouseholdRoleInput, RemoveHouseholdMemberInput } from '../../resolvers.generated.ts'
import type { HouseholdMemberRow, HouseholdRow } from '../../stores/dashboard/household.ts'
import { noHousehold, requireMember, requireOwnerLeft, requirePersonal, requireRole } from './rules.ts'

/** A change of a household, by its members as they were before. */
interface MemberChange {
  readonly householdId: string
  readonly action: string
  /** The person whom the audit entry names. */
  readonly personId: string
  run(members: readonly HouseholdMemberRow[], own: HouseholdMemberRow, unit: WriteTransaction): Promise<void>
}

/** Changes the members of a household of the viewer. @throws NOT_FOUND for who is no member */
export async function changeMembers(context: Context, { householdId, action, personId, run }: MemberChange): Promise<HouseholdRow> {
  const userId = requirePersonal(context.viewer)
  const id = requireId(householdId, 'householdId')
  const row = await write(context, {
    async run(unit) {
      const members = await context.households.lockMembers(id, unit.transaction)
      await run(members, requireMember(members, userId, id), unit)
      return context.households.touch(id, unit.now, unit.transaction)
    },
    audit: () => ({ tenantId: userId, action, subjectId: id, personId }),
  })
  context.households.byId.clear(id)
  return row
}

/** Changes what a member may do. @throws FORBIDDEN, NOT_FOUND, CONFLICT with reason LAST_OWNER */
export function changeRole(context: Context, { householdId, userId: given, role }: ChangeHouseholdRoleInput): Promise<HouseholdRow> {
  const personId = requireId(given, 'userId')
  return changeMembers(context, {
    ...{ householdId, personId, action: 'household_member.role_changed' },
    async run(members, own, { transaction }) {
      requireRole(own, ['OWNER'], 'Changing roles')
      requireMember(members, personId, householdId)
      if (role !== 'OWNER') requireOwnerLeft(members, personId)
      await context.households.setRole(own.householdId, personId, role, transaction)
    },
  })
}

/** Ends a membership. @throws FORBIDDEN, NOT_FOUND, CONFLICT with reason LAST_OWNER */
export function removeMember(context: Context, { householdId, userId: given }: RemoveHouseholdMemberInput): Promise<HouseholdRow> {
  const personId = requireId(given, 'userId')
  return changeMembers(context, {
    ...{ householdId, personId, action: 'household_member.removed' },
    async run(members, own, { transaction }) {
      if (personId !== own.userId) requireRole(own, ['OWNER'], 'Removing others')
      requireMember(members, personId, householdId)
      requireOwnerLeft(members, personId)
      await context.households.leave(own.householdId, personId, transaction)
    },
  })
}

/** Returns a household of the viewer. @throws NOT_FOUND for every other one */
export async function requireHousehold({ households, viewer }: Context, given: string, field = 'id'): Promise<HouseholdRow> {
  requirePersonal(viewer)
  const id = requireId(given, field)
  const row = await households.byId.load(id)
  if (!row) throw noHousehold(id)
  return row
}

/** Chooses a household of the viewer. @throws NOT_FOUND for one whose member the viewer is not */
export async function selectHousehold(context: Context, given: string | null | undefined): Promise<void> {
  const { viewer, households } = context
  const userId = requirePersonal(viewer)
  const id = given === null || given === undefined ? null : requireId(given, 'id')
  await write(context, {
    async run({ transaction }) {
      if (id !== null) requireMember(await households.lockMembers(id, transaction), userId, id)
      await households.select(userId, id, transaction)
    },
  })
}
