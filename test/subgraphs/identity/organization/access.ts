import { newId } from '../../../../platform/ids.ts'
import { type AccessRows, all, change, constant, managers, people, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row(
      'Query.organization',
      unrelated,
      all,
      'refused yes yes yes yes yes hidden',
      ({ organization }) => `{ organization(id: "${organization}") { id } }`,
      'organization',
    ),
    row('Query.organizations', all, unrelated, people, constant('{ organizations { nodes { id } } }'), 'organizations'),
    row(
      'Mutation.updateOrganization',
      all,
      unrelated,
      managers,
      change('updateOrganization', () => 'name: "Renamed"', 'id'),
      'updateOrganization',
    ),
    row(
      'Mutation.createOrganization',
      all,
      unrelated,
      people,
      change('createOrganization', ({ fresh }) => `name: "New", slug: "${fresh}"`, 'id'),
      'createOrganization',
      async () => `slug-${newId().slice(-12)}`,
    ),
    row(
      'Organization.memberships',
      all,
      unrelated,
      people,
      constant('{ viewer { organization { memberships { totalCount } } } }'),
      'viewer.organization.memberships',
    ),
  ],
}
