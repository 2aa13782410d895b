import { newId } from '../../../../platform/ids.ts'
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
