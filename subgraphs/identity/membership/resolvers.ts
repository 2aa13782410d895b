import type { Transaction } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import { newId, requireId, requireName } from '../../../platform/ids.ts'
import { readPage } from '../../../platform/page.ts'
import { isMailAddress, mailAddressSentence } from '../../../platform/smtp/mail-address.ts'
import { scopesOf } from '../../scopes.ts'
import type { AuditLine } from '../../store/books.ts'
import { orderOf } from '../../store/list.ts'
import { notFound } from '../../store/store.ts'
import { change, checkVersion, create, remove, write } from '../../store/write.ts'
import { actorOf, isService, requireApp, requirePerson } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { announceViewer } from '../session/announce.ts'
import { endSessions } from '../session/opening.ts'
import { type MembershipRow, memberships as table } from '../stores/membership.ts'
import type { OrganizationRow } from '../stores/organization.ts'
import { type UserKind, userKindToGraph } from '../stores/user.ts'
import { roleDefinitions } from './roles.ts'
import {
  isAdded,
  isChanged,
  isRemoved,
  keepers,
  readRoles,
  requireAccountRoles,
  requireKeepers,
  requireMayChangeRoles,
  requireMayRemove,
  requireMemberQuota,
  requireOrganization,
  rolesToGraph,
} from './rules.ts'

export const membershipResolvers: Resolvers = {
  Query: {
    memberships: (_, page, { viewer, ownMemberships }) => ownMemberships.page('ofPerson', requirePerson(viewer), page),
    organizationMembers: (_, { kind, ...page }, { viewer, memberships }) => {
      if (viewer.organizationId) return memberships.page(kind ? listOf[kind] : 'ofOrganization', viewer.organizationId, page)
      // There is nothing to show, but an invalid page is refused all the same.
      readPage(page, orderOf<MembershipRow>(table, { order: 'oldest first' }))
      return null
    },
    membershipsOf: (_, { organizationId, ...page }, { viewer, everyMembership }) => {
      requireApp(viewer, 'app_launcher', 'who belongs to an organization')
      return everyMembership.page('ofOrganization', requireId(organizationId, 'organizationId'), page)
    },
    roles: () => roleDefinitions,
    memberRights: async (_, { userId, organizationId }, { viewer, memberships, everyUser }) => {
      if (!isService(viewer))
        throw new DomainError('FORBIDDEN', 'A token for one service alone does not tell what people may do: ask with the token of the app.')
      const membership = await memberships.ofPerson(requireId(organizationId, 'organizationId'), requireId(userId, 'userId'))
      if (!membership) return null
      const { kind } = (await everyUser.byId.load(membership.userId))!
      return { userKind: userKindToGraph[kind], roles: rolesToGraph(membership.roles), scopes: scopesOf(membership.roles) }
    },
  },

  MembershipRecord: {
    membershipId: ({ id }) => id,
    // A member always has a person: the membership's foreign key refers to one.
    userKind: async ({ userId }, _, { everyUser }) => userKindToGraph[(await everyUser.byId.load(userId))!.kind],
    roles: ({ roles }) => rolesToGraph(roles),
  },

  Membership: {
    organization: ({ organizationId }, _, { organizations }) => organizations.byId.load(organizationId),
    user: ({ userId }, _, { users }) => users.byId.load(userId),
    roles: ({ roles }) => rolesToGraph(roles),
  },

  Mutation: {
    async addMember(_, { input }, context) {
      const { viewer, users, memberships, quotas, events } = context
      const roles = readRoles(input.roles)
      if (!isMailAddress(input.email)) throw new DomainError('BAD_USER_INPUT', `email takes an address ${mailAddressSentence}.`, { field: 'email' })
      const person = await countAddition(context)
      const organizationId = requireOrganization(viewer)
      return write(context, {
        async run({ transaction, now }) {
          requireMayChangeRoles(viewer, await alone(context, organizationId, transaction), [], roles)
          const user = await users.addableBy(person, input.email, transaction)
          if (!user) throw new DomainError('NOT_FOUND', strangerSentence, { field: 'email' })
          const present = await memberships.ofPerson(organizationId, user.id, transaction)
          if (present)
            throw new DomainError('CONFLICT', 'The person is a member already: change the roles of the membership instead.', { membershipId: present.id })
          requireMemberQuota(await memberships.countOf(organizationId, transaction), quotas.membersAnOrganization)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          return memberships.insert({ organizationId, id: newId(now), userId: user.id, roles, ...stamps }, transaction)
        },
        audit: audited('membership.added'),
        facts: row => [isAdded({ ...row, kind: 'human' })],
        announce: ({ userId }) => announceViewer(events, userId),
      })
    },

    async changeMemberRoles(_, { input }, context) {
      const { viewer, events } = context
      const roles = readRoles(input.roles)
      requirePerson(viewer)
      requireOrganization(viewer)
      let kind: UserKind = 'human'
      return change(context, {
        of: context.memberships,
        id: input.id,
        async decide(membership, { transaction }) {
          requireMayChangeRoles(viewer, await alone(context, membership.organizationId, transaction), membership.roles, roles)
          // Checked only now, so that a caller without the right to change it does not learn its version.
          checkVersion(membership.version, input.expectedVersion, 'membership')
          kind = await context.users.kindOf(membership.userId, transaction)
          if (kind === 'service_account') requireAccountRoles(roles)
          requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, roles)
          return new Set(roles).symmetricDifference(new Set(membership.roles)).size > 0 ? { roles } : {}
        },
        audit: ({ after }) => audited('membership.roles_changed', kind)(after),
        facts: ({ after }) => [isChanged({ ...after, kind })],
        announce: ({ after }) => announceViewer(events, after.userId),
      })
    },

    async removeMember(_, { input }, context) {
      const { viewer, users, apiKeys, events } = context
      requirePerson(viewer)
      requireOrganization(viewer)
      let kind: UserKind = 'human'
      return remove(context, {
        of: context.memberships,
        id: input.id,
        async decide(membership, { transaction }) {
          requireMayRemove(viewer, await alone(context, membership.organizationId, transaction), membership)
          requireKeepers(await othersWhoKeep(context, membership, transaction), membership.roles, [])
          kind = await context.users.kindOf(membership.userId, transaction)
        },
        audit: row => audited('membership.removed', kind)(row),
        facts: row => [isRemoved({ ...row, kind })],
        // Everything that depends on the membership is removed with it.
        async wake({ organizationId, userId }, unit) {
          await endSessions(context, { userId, organizationId }, unit)
          if (kind !== 'service_account') return
          await apiKeys.endOfAccount(userId, unit)
          await users.removeAccount(userId, unit.transaction)
        },
        announce: ({ userId }) => announceViewer(events, userId),
      })
    },

    async createServiceAccount(_, { input }, context) {
      const { viewer, everyUser, memberships, quotas } = context
      requirePerson(viewer)
      const organizationId = requireOrganization(viewer)
      const [name, roles] = [requireName(input.name, 'name', 120), readRoles(input.roles)]
      requireAccountRoles(roles)
      const { row } = await create(context, {
        of: memberships,
        once: input,
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          requireMayChangeRoles(viewer, await alone(context, organizationId, transaction), [], roles)
          requireMemberQuota(await memberships.countOf(organizationId, transaction), quotas.membersAnOrganization)
          const account = { id: newId(now), name, email: null, emailVerified: false, kind: 'service_account', createdAt: now, updatedAt: now } as const
          const { id: userId } = await everyUser.insert(account, transaction)
          return { organizationId, id, userId, roles, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        },
        audit: ({ userId }) => ({ tenantId: organizationId, action: 'service_account.created', subjectId: userId }),
        facts: row => [isAdded({ ...row, kind: 'service_account' })],
      })
      return row
    },
  },
}

const listOf = { HUMAN: 'people', SERVICE_ACCOUNT: 'serviceAccounts' } as const

/**
 * Adds an account entry to the audit: a change of rights concerns a person's own account; a service account has none.
 */
const audited =
  (action: string, kind: UserKind = 'human') =>
  ({ organizationId, id, userId }: MembershipRow): AuditLine => ({
    tenantId: organizationId,
    action,
    subjectId: id,
    ...(kind === 'human' && { personId: userId }),
  })

/** Error for every person who cannot be added; it does not reveal whether the person has an account. */
const strangerSentence =
  'No person with this address shares an organization with you. Members of your other organizations can be added; invite people from elsewhere with inviteMember.'

/**
 * Counts an address that the person tries.
 * @returns the person
 * @throws RATE_LIMITED with `retryAfter` in seconds above the hourly limit
 */
async function countAddition({ viewer, countAddition: count }: Context): Promise<string> {
  const person = requirePerson(viewer)
  const waitMs = await count(person)
  if (waitMs === 0) return person
  const retryAfter = Math.ceil(waitMs / 1000)
  throw new DomainError('RATE_LIMITED', `You have tried too many addresses within an hour: go on in ${retryAfter} seconds.`, { retryAfter })
}

/** Locks the members of an organization until the transaction ends, so that rules see settled facts. */
async function alone({ organizations }: Context, id: string, transaction: Transaction): Promise<OrganizationRow> {
  const organization = await organizations.lock(id, transaction)
  if (!organization) throw notFound(organizations.what, id)
  return organization
}

async function othersWhoKeep({ memberships }: Context, { organizationId, id }: MembershipRow, transaction: Transaction): Promise<MembershipRow[]> {
  return (await memberships.holders(organizationId, keepers, transaction)).filter(other => other.id !== id)
}
