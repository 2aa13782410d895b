import { newId } from '../../../../platform/ids.ts'
import {
  type AccessRows,
  all,
  change,
  constant,
  type Fresh,
  knownCallers,
  managers,
  managersOfIt,
  people,
  publicRoute,
  row,
  services,
  unrelated,
} from '../../../access/row.ts'
import { seedPerson } from '../user/seed.ts'
import { seedMembership } from './seed.ts'

/** The address of somebody who is no stranger to any of them. */
const freshPerson: Fresh = async ({ graph, commons }) => {
  const { id, email } = await seedPerson(graph)
  await seedMembership(graph, { organizationId: commons, userId: id, role: 'viewer' })
  return email
}

const freshMembership: Fresh = async ({ graph, ids }) => {
  const { id: userId } = await seedPerson(graph)
  return (await seedMembership(graph, { organizationId: ids.organization!, userId, role: 'member' })).id
}

/** An invitation to `acme`, of somebody else each time. */
const freshInvitation: Fresh = async ({ graph, owner }) => {
  const document = 'mutation($email: EmailAddress!) { inviteMember(input: { email: $email, roles: [VIEWER] }) { id } }'
  return (await graph.execute(document, { email: `${newId()}@example.test` }, { as: owner })).data().inviteMember.id
}

export const access: AccessRows = {
  fields: [
    row('Query.invitations', all, unrelated, managers, constant('{ invitations { nodes { id } } }'), 'invitations'),
    row(
      'Query.receivedInvitations',
      all,
      unrelated,
      'refused refused refused empty empty empty empty',
      constant('{ receivedInvitations { id } }'),
      'receivedInvitations',
    ),
    row(
      'Invitation.organization',
      all,
      unrelated,
      managers,
      change('inviteMember', ({ fresh }) => `email: "${fresh}@example.test", roles: [VIEWER]`, 'organization { id }'),
      'inviteMember.organization',
      async () => newId(),
    ),
    row(
      'Invitation.invitedBy',
      all,
      unrelated,
      managers,
      change('inviteMember', ({ fresh }) => `email: "${fresh}@example.test", roles: [VIEWER]`, 'invitedBy { id }'),
      'inviteMember.invitedBy',
      async () => newId(),
    ),
    row(
      'Mutation.inviteMember',
      all,
      unrelated,
      managers,
      change('inviteMember', ({ fresh }) => `email: "${fresh}@example.test", roles: [VIEWER]`, 'id'),
      'inviteMember',
      async () => newId(),
    ),
    row(
      'Mutation.resendInvitation',
      all,
      unrelated,
      managersOfIt,
      change('resendInvitation', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'resendInvitation',
      freshInvitation,
    ),
    row(
      'Mutation.revokeInvitation',
      all,
      unrelated,
      managersOfIt,
      change('revokeInvitation', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'revokeInvitation',
      freshInvitation,
    ),
    // To nobody of these: only whose address was invited is told that it is there.
    row(
      'Mutation.acceptInvitation',
      all,
      unrelated,
      'refused refused refused hidden hidden hidden hidden',
      change('acceptInvitation', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'acceptInvitation',
      freshInvitation,
    ),
    row(
      'Mutation.declineInvitation',
      all,
      unrelated,
      'refused refused refused hidden hidden hidden hidden',
      change('declineInvitation', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'declineInvitation',
      freshInvitation,
    ),
    row('Query.roles', unrelated, all, knownCallers, constant('{ roles { role } }'), 'roles'),
    row(
      'Mutation.createServiceAccount',
      all,
      unrelated,
      managers,
      change('createServiceAccount', () => 'name: "Agent", roles: [VIEWER]', 'id'),
      'createServiceAccount',
    ),
    row('Query.memberships', all, unrelated, people, constant('{ memberships { nodes { id } } }'), 'memberships'),
    row('Query.organizationMembers', all, unrelated, people, constant('{ organizationMembers { nodes { id } } }'), 'organizationMembers'),
    row(
      'Query.membershipsOf',
      all,
      unrelated,
      services,
      ({ organization }) => `{ membershipsOf(organizationId: "${organization}") { nodes { userId } } }`,
      'membershipsOf',
    ),
    row('Query.contactOf', all, unrelated, services, ({ organization }) => `{ contactOf(userId: "${organization}") }`, 'contactOf'),
    row('Query.personWithContact', all, unrelated, services, constant('{ personWithContact(email: "nobody@elsewhere.test") }'), 'personWithContact'),
    row('Query.accountOf', all, unrelated, services, ({ organization }) => `{ accountOf(userId: "${organization}") { isRecoverable } }`, 'accountOf'),
    row('Query.apiKeyMaker', all, unrelated, services, ({ organization }) => `{ apiKeyMaker(id: "${organization}") }`, 'apiKeyMaker'),
    row(
      'Query.memberRights',
      all,
      unrelated,
      services,
      ({ organization }) => `{ memberRights(userId: "${organization}", organizationId: "${organization}") { scopes } }`,
      'memberRights',
    ),
    row(
      'Mutation.addMember',
      all,
      unrelated,
      managers,
      change('addMember', ({ fresh }) => `email: "${fresh}", roles: [MEMBER]`, 'id'),
      'addMember',
      freshPerson,
    ),
    row(
      'Mutation.changeMemberRoles',
      all,
      unrelated,
      managersOfIt,
      change('changeMemberRoles', ({ fresh }) => `id: "${fresh}", roles: [VIEWER]`, 'id'),
      'changeMemberRoles',
      freshMembership,
    ),
    row(
      'Mutation.removeMember',
      all,
      unrelated,
      managersOfIt,
      change('removeMember', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'removeMember',
      freshMembership,
    ),
  ],
  routes: [
    { at: 'GET /identity/invitation', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/invitation?code=nobody-knows' },
    { at: 'POST /identity/invitation', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/invitation' },
  ],
}
