import { type AccessRows, all, change, constant, type Fresh, managers, managersOfIt, people, row, services, unrelated } from '../../../access/row.ts'
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
}
