import type { Transaction } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { readPage } from '../../../platform/page.ts'
import { scopesOf } from '../../scopes.ts'
import { isMailAddress, mailAddressSentence } from '../credentials/mail-address.ts'
import type { Context } from '../nouns.ts'
import type { OrganizationRow } from '../organization/table.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { requireOrganization, requirePerson } from '../viewer/rules.ts'
import { keepers, readRoles, requireKeepers, requireMayChangeRoles, requireMayRemove, requireRoomForMember, requireVersion, rolesToGraph } from './rules.ts'
import { membershipOrder } from './store.ts'
import type { MembershipRow } from './table.ts'

type MembershipResolvers = Pick<Resolvers, 'Membership'> & {
  Query: Pick<NonNullable<Resolvers['Query']>, 'memberships' | 'organizationMembers' | 'memberRights'>
  Mutation: Pick<NonNullable<Resolvers['Mutation']>, 'addMember' | 'changeMemberRoles' | 'removeMember'>
}

export const membershipResolvers: MembershipResolvers = {
  Query: {
    memberships: (_, page, { viewer, memberships }) => memberships.ofUser(requirePerson(viewer), readPage(page, membershipOrder)),
    organizationMembers: (_, page, { viewer, memberships }) => {
      const request = readPage(page, membershipOrder)
      return viewer.organizationId ? memberships.ofOrganization(viewer.organizationId, request) : null
    },
    memberRights: async (_, { userId, organizationId }, { memberships }) => {
      const membership = await memberships.find(requireId(organizationId, 'organizationId'), { userId: requireId(userId, 'userId') })
      return membership && { roles: rolesToGraph(membership.roles), scopes: scopesOf(membership.roles) }
    },
  },

  Membership: {
    organization: ({ organizationId }, _, { organizations }) => organizations.byId.load(organizationId),
    user: ({ userId }, _, { users }) => users.byId.load(userId),
    roles: ({ roles }) => rolesToGraph(roles),
  },

  Mutation: {
    async addMember(_, { input }, context) {
      const { viewer, users, memberships, quotas, now } = context
      const roles = readRoles(input.roles)
      if (!isMailAddress(input.email)) throw new Refusal('BAD_USER_INPUT', `email takes an address ${mailAddressSentence}.`, { field: 'email' })
      countAddition(context)
      return inOrganization(context, async (organization, by, transaction) => {
        requireMayChangeRoles(viewer, organization, [], roles)
        const user = await users.addableBy(by, input.email, transaction)
        if (!user) throw new Refusal('NOT_FOUND', strangerSentence, { field: 'email' })
        const present = await memberships.find(organization.id, { userId: user.id }, transaction)
        if (present) throw new Refusal('CONFLICT', 'The person is a member already: change the roles of the membership instead.', { membershipId: present.id })
        requireRoomForMember(await memberships.countOf(organization.id, transaction), quotas.membersAnOrganization)
        return memberships.add({ organizationId: organization.id, userId: user.id, roles }, by, now(), transaction)
      })
    },

    async changeMemberRoles(_, { input }, context) {
      const { viewer, memberships, now } = context
      const id = requireId(input.id, 'id')
      const roles = readRoles(input.roles)
      return inOrganization(context, async (organization, by, transaction) => {
        const membership = found(await memberships.find(organization.id, { id }, transaction))
        requireMayChangeRoles(viewer, organization, membership.roles, roles)
        requireVersion(membership, input.expectedVersion)
        requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, roles)
        return memberships.changeRoles(membership, roles, by, now(), transaction)
      })
    },

    async removeMember(_, { input }, context) {
      const { viewer, memberships, now } = context
      const id = requireId(input.id, 'id')
      return inOrganization(context, async (organization, by, transaction) => {
        const membership = found(await memberships.find(organization.id, { id }, transaction))
        requireMayRemove(viewer, organization, membership)
        requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, [])
        await memberships.remove(membership, by, now(), transaction)
        return membership
      })
    },
  },
}

/** One sentence for everybody who may not be added: it does not tell whether somebody has an account. */
const strangerSentence =
  'Nobody with this address shares an organization with you. Members of your other organizations can be added; people from elsewhere will be invited, which is not there yet: until then a platform admin can add them.'

/** Counts an address that the person tries. @throws RATE_LIMITED with `retryAfter` in seconds past the hour's number */
function countAddition({ viewer, additions, now }: Context): void {
  const person = requirePerson(viewer)
  const waitMs = additions.wait(person, now())
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1000)
    throw new Refusal('RATE_LIMITED', `You have tried too many addresses within an hour: go on in ${retryAfter} seconds.`, { retryAfter })
  }
  additions.add(person, now())
}

/** Runs a change in the active organization, alone among the changes of its members. */
async function inOrganization<Result>(
  { viewer, organizations }: Context,
  run: (organization: OrganizationRow, by: string, transaction: Transaction) => Promise<Result>,
): Promise<Result | null> {
  const by = requirePerson(viewer)
  return organizations.change(requireOrganization(viewer), (organization, transaction) => run(organization, by, transaction))
}

async function othersWhoKeep({ memberships }: Context, { organizationId, id }: MembershipRow, transaction: Transaction): Promise<MembershipRow[]> {
  return (await memberships.holders(organizationId, keepers, transaction)).filter(other => other.id !== id)
}

function found(membership: MembershipRow | null): MembershipRow {
  if (!membership) throw new Refusal('NOT_FOUND', 'The active organization has no such membership.', { field: 'id' })
  return membership
}
