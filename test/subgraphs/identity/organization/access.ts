import { type AccessRows, all, change, constant, people, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row(
      'Mutation.createOrganization',
      all,
      unrelated,
      people,
      change('createOrganization', ({ fresh }) => `name: "New", slug: "${fresh}"`, 'id'),
      'createOrganization',
      'slug',
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
