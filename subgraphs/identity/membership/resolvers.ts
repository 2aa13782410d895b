import type { Transaction } from 'sequelize'
import { Refusal } from '../../../platform/errors.ts'
import { newId, requireId } from '../../../platform/ids.ts'
import { readPage } from '../../../platform/page.ts'
import { scopesOf } from '../../scopes.ts'
import { orderOf } from '../../store/list.ts'
import { notFound } from '../../store/store.ts'
import { change, checkVersion, remove, write } from '../../store/write.ts'
import { actorOf, requirePerson } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { isMailAddress, mailAddressSentence } from '../mail-address.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { type MembershipRow, memberships as table } from '../stores/membership.ts'
import type { OrganizationRow } from '../stores/organization.ts'
import { keepers, readRoles, requireKeepers, requireMayChangeRoles, requireMayRemove, requireMemberQuota, requireOrganization, rolesToGraph } from './rules.ts'

export const membershipResolvers: Resolvers = {
  Query: {
    memberships: (_, page, { viewer, ownMemberships }) => ownMemberships.page('ofPerson', requirePerson(viewer), page),
    organizationMembers: (_, page, { viewer, memberships }) => {
      if (viewer.organizationId) return memberships.page('ofOrganization', viewer.organizationId, page)
      // Nothing to show, and a page that cannot be is refused all the same.
      readPage(page, orderOf<MembershipRow>(table, { order: 'oldest first' }))
      return null
    },
    memberRights: async (_, { userId, organizationId }, { memberships }) => {
      const membership = await memberships.ofPerson(requireId(organizationId, 'organizationId'), requireId(userId, 'userId'))
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
      const { viewer, users, memberships, quotas } = context
      const roles = readRoles(input.roles)
      if (!isMailAddress(input.email)) throw new Refusal('BAD_USER_INPUT', `email takes an address ${mailAddressSentence}.`, { field: 'email' })
      const person = countAddition(context)
      const organizationId = requireOrganization(viewer)
      return write(context, {
        async run({ transaction, now }) {
          requireMayChangeRoles(viewer, await alone(context, organizationId, transaction), [], roles)
          const user = await users.addableBy(person, input.email, transaction)
          if (!user) throw new Refusal('NOT_FOUND', strangerSentence, { field: 'email' })
          const present = await memberships.ofPerson(organizationId, user.id, transaction)
          if (present)
            throw new Refusal('CONFLICT', 'The person is a member already: change the roles of the membership instead.', { membershipId: present.id })
          requireMemberQuota(await memberships.countOf(organizationId, transaction), quotas.membersAnOrganization)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          return memberships.insert({ organizationId, id: newId(now), userId: user.id, roles, ...stamps }, transaction)
        },
        audit: audited('membership.added'),
      })
    },

    async changeMemberRoles(_, { input }, context) {
      const { viewer } = context
      const roles = readRoles(input.roles)
      requirePerson(viewer)
      requireOrganization(viewer)
      return change(context, {
        of: context.memberships,
        id: input.id,
        async decide(membership, { transaction }) {
          requireMayChangeRoles(viewer, await alone(context, membership.organizationId, transaction), membership.roles, roles)
          // Not before: whoever may not change it is not told its version.
          checkVersion(membership.version, input.expectedVersion, 'membership')
          requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, roles)
          return new Set(roles).symmetricDifference(new Set(membership.roles)).size > 0 ? { roles } : {}
        },
        audit: ({ after }) => audited('membership.roles_changed')(after),
      })
    },

    async removeMember(_, { input }, context) {
      const { viewer } = context
      requirePerson(viewer)
      requireOrganization(viewer)
      return remove(context, {
        of: context.memberships,
        id: input.id,
        async decide(membership, { transaction }) {
          requireMayRemove(viewer, await alone(context, membership.organizationId, transaction), membership)
          requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, [])
        },
        audit: audited('membership.removed'),
        tell: ({ id, organizationId, userId, roles }) => [
          { kind: 'membership.removed', body: { membershipId: id, organizationId, userId, userKind: 'HUMAN', roles: [...roles] } },
        ],
      })
    },
  },
}

const audited = (action: string) => (row: MembershipRow) => ({ tenantId: row.organizationId, action, subjectId: row.id })

/** One sentence for everybody who may not be added: it does not tell whether somebody has an account. */
const strangerSentence =
  'Nobody with this address shares an organization with you. Members of your other organizations can be added; people from elsewhere will be invited, which is not there yet: until then a platform admin can add them.'

/**
 * Counts an address that the person tries.
 * @returns the person
 * @throws RATE_LIMITED with `retryAfter` in seconds past the hour's number
 */
function countAddition({ viewer, additions, clock }: Context): string {
  const person = requirePerson(viewer)
  const now = clock.now()
  const waitMs = additions.wait(person, now)
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1000)
    throw new Refusal('RATE_LIMITED', `You have tried too many addresses within an hour: go on in ${retryAfter} seconds.`, { retryAfter })
  }
  additions.add(person, now)
  return person
}

/** Sees to it that nobody else changes the members of an organization before the transaction ends: rules see settled facts. */
async function alone({ organizations }: Context, id: string, transaction: Transaction): Promise<OrganizationRow> {
  const organization = await organizations.lock(id, transaction)
  if (!organization) throw notFound(organizations.what, id)
  return organization
}

async function othersWhoKeep({ memberships }: Context, { organizationId, id }: MembershipRow, transaction: Transaction): Promise<MembershipRow[]> {
  return (await memberships.holders(organizationId, keepers, transaction)).filter(other => other.id !== id)
}
