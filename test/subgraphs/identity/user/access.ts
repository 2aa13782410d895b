import { type AccessRows, all, change, constant, people, row, services, unrelated } from '../../../access/row.ts'
import { seedMembership } from '../membership/seed.ts'
import { seedPerson } from './seed.ts'

export const access: AccessRows = {
  async made({ graph, ids }) {
    const { id } = await seedPerson(graph)
    await seedMembership(graph, { organizationId: ids.organization!, userId: id, role: 'viewer' })
    return { person: id }
  },
  fields: [
    row('User.email', all, unrelated, people, constant('{ viewer { user { email } } }'), 'viewer.user.email'),
    row('Query.user', unrelated, all, 'refused yes yes yes yes yes hidden', ({ person }) => `{ user(id: "${person}") { id } }`, 'user'),
    row(
      'Mutation.updateUser',
      all,
      unrelated,
      people,
      change('updateUser', () => 'image: null', 'id'),
      'updateUser',
    ),
    row(
      'Mutation.suspendUser',
      all,
      unrelated,
      services,
      change('suspendUser', ({ person }) => `id: "${person}", reason: "No reason"`, 'id'),
      'suspendUser',
    ),
    row(
      'Mutation.reinstateUser',
      all,
      unrelated,
      services,
      change('reinstateUser', ({ person }) => `id: "${person}"`, 'id'),
      'reinstateUser',
    ),
  ],
}
