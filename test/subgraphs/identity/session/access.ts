import { type AccessRows, all, change, peopleOfIt, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row(
      'Mutation.switchOrganization',
      all,
      unrelated,
      peopleOfIt,
      change('switchOrganization', ({ organization }) => `organizationId: "${organization}"`, 'expiresAt'),
      'switchOrganization',
    ),
  ],
}
