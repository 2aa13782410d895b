import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { type Changed, change, create } from '../../../store/write.ts'
import { actorOf, personOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { codeLives } from '../../stores/code.ts'
import { type InvitationRow, statusAt } from '../../stores/invitation.ts'
import type { OrganizationRow } from '../../stores/organization.ts'
import type { UserRow } from '../../stores/user.ts'
import { readRoles, requireManager, requireMayChangeRoles, requireMemberQuota, requireOrganization, rolesToGraph } from '../rules.ts'
import { acceptInvitation, declineInvitation } from './answer.ts'
import { closesAttention, readAddress, requireInvitable, requirePending, statusToGraph, toStatus } from './rules.ts'

export const invitationResolvers: Resolvers = {
  Query: {
    invitations(_, { status, ...page }, { viewer, invitations }) {
      requirePerson(viewer)
      requireOrganization(viewer)
      requireManager(viewer, 'see its invitations')
      return invitations.filtered({ status: status && toStatus(status) }, page)
    },
    receivedInvitations: (_, _arguments, { viewer, receivedInvitations, clock }) => receivedInvitations.waitingFor(requirePerson(viewer), clock.now()),
  },

  Invitation: {
    roles: ({ roles }) => rolesToGraph(roles),
    status: (invitation, _, { clock }) => statusToGraph[statusAt(invitation, clock.now())],
    organization: ({ organizationId }, _, { invitingOrganizations }) => invitingOrganizations.byId.load(organizationId),
    invitedBy: ({ createdBy }, _, { users }) => users.find(personOf(createdBy)),
  },

  Mutation: {
    async inviteMember(_, { input }, context) {
      const { viewer, memberships, invitations, quotas } = context
      const person = requirePerson(viewer)
      const organizationId = requireOrganization(viewer)
      const [email, roles] = [readAddress(input.email), readRoles(input.roles)]
      const by = await context.users.find(viewer.userId)
      let organization: OrganizationRow | null = null
      let expired: readonly string[] = []
      const { row } = await create(context, {
        of: invitations,
        once: input,
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          // Locks the person first, so that concurrent invitations of two organizations are counted one after the other.
          await context.users.hold(person, transaction)
          organization = await context.organizations.lock(organizationId, transaction)
          if (!organization) throw notFound(context.organizations.what, organizationId)
          requireMayChangeRoles(viewer, organization, [], roles)
          requireInvitable(await invitations.standing(organizationId, email, person, now, transaction), quotas, now)
          requireMemberQuota(await memberships.countOf(organizationId, transaction), quotas.membersAnOrganization)
          expired = await invitations.expireOf(organizationId, email, now, transaction)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          return { organizationId, id, email, roles, expiresAt: endOf(now), ...stamps }
        },
        audit: audited('invitation.created'),
        facts: () => expired.map(closesAttention),
        wake: (invitation, unit) => mail(context, invitation, organization!, by, unit),
      })
      return row
    },

    async resendInvitation(_, { input }, context) {
      const { viewer, organizations, users } = context
      // Read before the transaction, which must not need a second connection.
      const [organization, by] = await Promise.all([organizations.find(viewer.organizationId), users.find(viewer.userId)])
      return managing(context, input.id, 'send invitations', {
        decide(invitation, { now }) {
          requirePending(invitation, now, 'invite the address anew')
          return { expiresAt: endOf(now) }
        },
        audit: audited('invitation.resent'),
        wake: (invitation, unit) => mail(context, invitation, organization!, by, unit),
      })
    },

    revokeInvitation: (_, { input }, context) =>
      managing(context, input.id, 'revoke invitations', {
        decide(invitation, { now }) {
          requirePending(invitation, now, 'there is nothing to revoke')
          return { status: 'revoked' }
        },
        audit: audited('invitation.revoked'),
        facts: ({ id }) => [closesAttention(id)],
        wake: ({ id }, { transaction }) => context.codes.end(id, ['invitation'], transaction),
      }),

    acceptInvitation: (_, { input }, context) => acceptInvitation(context, input.id),
    declineInvitation: (_, { input }, context) => declineInvitation(context, input.id),
  },
}

/** Returns the end of an invitation that is mailed now. */
const endOf = (now: Date): Date => new Date(now.getTime() + codeLives.invitation)

const audited = (action: string) => (row: InvitationRow) => ({ tenantId: row.organizationId, action, subjectId: row.id })

interface Managing {
  decide(invitation: InvitationRow, unit: WriteTransaction): Partial<InvitationRow>
  audit(invitation: InvitationRow): { readonly tenantId: string; readonly action: string; readonly subjectId: string }
  facts?(invitation: InvitationRow): ReturnType<typeof closesAttention>[]
  wake(invitation: InvitationRow, unit: WriteTransaction): Promise<void>
}

/** Runs a manager's action on an invitation of the organization. */
function managing(context: Context, id: string, what: string, { decide, audit, facts, wake }: Managing): Promise<InvitationRow> {
  requirePerson(context.viewer)
  requireOrganization(context.viewer)
  requireManager(context.viewer, what)
  const after = ({ after: row }: Changed<InvitationRow>) => row
  return change(context, {
    of: context.invitations,
    id,
    decide,
    audit: changed => audit(after(changed)),
    ...(facts && { facts: (changed: Changed<InvitationRow>) => facts(after(changed)) }),
    wake: (changed, unit) => wake(after(changed), unit),
  })
}

/** Sends the mail, with a new code that replaces any other. @param by the inviting person */
async function mail(
  { mails, codes }: Context,
  { id, email, roles }: InvitationRow,
  { name }: OrganizationRow,
  by: UserRow | null,
  unit: WriteTransaction,
): Promise<void> {
  const data = { organization: name, invitedBy: by?.name ?? null, roles: rolesToGraph(roles) }
  await mails.send({ kind: 'invitation', to: email, code: () => codes.issue('invitation', id, unit), data }, unit)
}
