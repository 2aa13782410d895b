import { requireName } from '../../../../platform/ids.ts'
import { change, create, remove } from '../../../store/write.ts'
import { actorOf, isPerson, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateHouseholdInput, Resolvers } from '../../resolvers.generated.ts'
import type { HouseholdRow, SelectedHousehold } from '../../stores/dashboard/household.ts'
import { answer, invite, knownAs, withdraw } from './invitations.ts'
import { closeItem } from './items.ts'
import { changeRole, removeMember, requireHousehold, selectHousehold } from './members.ts'
import { max, requireMember, requirePersonal, requireRole, requireRoomForHousehold } from './rules.ts'

/** Returns the household that the viewer has chosen; null in an organization, and for a key or a service. */
export const selectedOf = async ({ viewer, households }: Pick<Context, 'viewer' | 'households'>): Promise<SelectedHousehold | null> =>
  isPerson(viewer) && viewer.organizationId === null ? households.selectedOf(viewer.userId) : null

async function createHousehold(context: Context, input: CreateHouseholdInput): Promise<HouseholdRow> {
  const { viewer, households } = context
  const userId = requirePersonal(viewer)
  const name = requireName(input.name, 'name', max.name)
  const known = await knownAs(context)
  const { row } = await create(context, {
    of: households,
    once: input,
    tenantId: userId,
    async run({ transaction, now }, id) {
      requireRoomForHousehold(await households.lockCount(userId, transaction))
      return { id, name, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    // After the row, which a membership refers to.
    wake: ({ id }, { transaction, now }) =>
      households.join({ householdId: id, userId, name: known.name, role: 'OWNER', joinedAt: now }, transaction).then(() => {}),
    audit: ({ id }) => ({ tenantId: userId, action: 'household.created', subjectId: id }),
  })
  return row
}

/** Makes sure that the viewer owns a household, and keeps everybody else from changing it. */
const owning = ({ households }: Context, viewer: Viewer, id: string, what: string) => ({
  async before({ transaction }: { readonly transaction: Parameters<typeof households.lockMembers>[1] }) {
    requireRole(requireMember(await households.lockMembers(id, transaction), requirePersonal(viewer), id), ['OWNER'], what)
  },
})

export const householdResolvers: Resolvers = {
  Query: {
    households: (_, __, { viewer, households }) => households.ofPerson(requirePersonal(viewer)),
    household: (_, { id }, context) => requireHousehold(context, id),
    async householdInvitations(_, __, context) {
      const { email } = await knownAs(context)
      return email === null ? [] : context.householdInvitations.ofAddress(email)
    },
  },
  Mutation: {
    createHousehold: (_, { input }, context) => createHousehold(context, input),
    async updateHousehold(_, { input }, context) {
      const { id } = await requireHousehold(context, input.id)
      return change(context, {
        ...{ of: context.households, id, expectedVersion: input.expectedVersion },
        ...owning(context, context.viewer, id, 'Renaming a household'),
        decide: () => ({ name: requireName(input.name, 'name', max.name) }),
        audit: () => ({ tenantId: requirePersonal(context.viewer), action: 'household.updated', subjectId: id }),
      })
    },
    async deleteHousehold(_, { input }, context) {
      const { id } = await requireHousehold(context, input.id)
      const announcements: ((() => void) | undefined)[] = []
      return remove(context, {
        ...{ of: context.households, id, expectedVersion: input.expectedVersion },
        ...owning(context, context.viewer, id, 'Deleting a household'),
        // Invitations end with the household.
        async decide(_row, unit) {
          for (const invitation of await context.householdInvitations.lockAll(id, unit.transaction))
            announcements.push(await closeItem(context, invitation, unit))
        },
        announce: () => {
          for (const announce of announcements) announce?.()
        },
        audit: () => ({ tenantId: requirePersonal(context.viewer), action: 'household.deleted', subjectId: id }),
      })
    },
    inviteToHousehold: (_, { input }, context) => invite(context, input),
    acceptHouseholdInvitation: (_, { input }, context) => answer(context, input.id, 'ACCEPTED'),
    declineHouseholdInvitation: (_, { input }, context) => answer(context, input.id, 'DECLINED'),
    withdrawHouseholdInvitation: (_, { input }, context) => withdraw(context, input.id),
    changeHouseholdRole: (_, { input }, context) => changeRole(context, input),
    removeHouseholdMember: (_, { input }, context) => removeMember(context, input),
    async selectHousehold(_, { input }, context) {
      await selectHousehold(context, input.id)
      return { organizationId: null }
    },
  },
  Household: {
    __resolveReference: ({ id }, { households }) => households.byId.load(id),
    async members({ id }, _, { viewer, households }) {
      const members = await households.membersOf(id)
      return members.some(({ userId }) => userId === viewer.userId) ? [...members] : []
    },
    async invitations({ id }, _, { viewer, households, householdInvitations }) {
      const own = (await households.membersOf(id)).find(({ userId }) => userId === viewer.userId)
      return own && own.role !== 'CHILD' ? [...(await householdInvitations.pendingOf(id))] : []
    },
  },
  HouseholdMember: {
    user: ({ userId }) => ({ __typename: 'User', id: userId }),
  },
  HouseholdInvitation: {
    household: ({ householdId }, _, { households }) => households.byId.load(householdId),
  },
  Workspace: {
    selectedHouseholdId: async (_, __, context) => (await selectedOf(context))?.id ?? null,
    async selectedHousehold(_, __, context) {
      const selected = await selectedOf(context)
      return selected && context.households.byId.load(selected.id)
    },
  },
}
