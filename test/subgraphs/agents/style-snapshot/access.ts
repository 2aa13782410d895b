import { type AccessRows, all, change, row, unrelated } from '../../../access/row.ts'
import { subjectAndManagers } from '../person-profile/access.ts'

const path = ({ profile }: Readonly<Record<string, string>>) => `/agents/api/person-profiles/${profile}/style`

export const access: AccessRows = {
  fields: [
    row('Query.styleSnapshot', all, unrelated, subjectAndManagers, ids => `{ styleSnapshot(id: "${ids.styleSnapshot}") { id } }`, 'styleSnapshot'),
    row(
      'Mutation.createStyleSnapshot',
      all,
      unrelated,
      subjectAndManagers,
      change('createStyleSnapshot', ({ profile }) => `personProfileId: "${profile}"`, 'id'),
      'createStyleSnapshot',
    ),
  ],
  routes: [
    { at: 'GET /agents/api/person-profiles/:id/style', scopes: all, less: unrelated, cells: subjectAndManagers, path },
    { at: 'POST /agents/api/person-profiles/:id/style', scopes: all, less: unrelated, cells: subjectAndManagers, path, body: () => ({}) },
  ],
}
