import { type AccessRows, all, change, constant, managers, managersOfIt, people, row, services, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.memberships', all, unrelated, people, constant('{ memberships { nodes { id } } }'), 'memberships'),
    row('Query.organizationMembers', all, unrelated, people, constant('{ organizationMembers { nodes { id } } }'), 'organizationMembers'),
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
      'person',
    ),
    row(
      'Mutation.changeMemberRoles',
      all,
      unrelated,
      managersOfIt,
      change('changeMemberRoles', ({ fresh }) => `id: "${fresh}", roles: [VIEWER]`, 'id'),
      'changeMemberRoles',
      'membership',
    ),
    row(
      'Mutation.removeMember',
      all,
      unrelated,
      managersOfIt,
      change('removeMember', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'removeMember',
      'membership',
    ),
  ],
}
