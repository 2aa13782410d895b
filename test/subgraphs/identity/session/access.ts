import { type AccessRows, all, change, constant, people, peopleOfIt, row, unrelated } from '../../../access/row.ts'

const noSession = '00000000-0000-7000-8000-000000000000'

export const access: AccessRows = {
  fields: [
    row('Query.sessions', all, unrelated, people, constant('{ sessions { id } }'), 'sessions'),
    row('Viewer.session', all, unrelated, 'nothing nothing nothing yes yes yes yes', constant('{ viewer { session { id } } }'), 'viewer.session'),
    row(
      'Session.organization',
      all,
      unrelated,
      'refused nothing nothing yes yes yes yes',
      constant('{ viewer { session { organization { id } } } }'),
      'viewer.session.organization',
    ),
    row(
      'Mutation.switchContext',
      all,
      unrelated,
      peopleOfIt,
      change('switchContext', ({ organization }) => `context: ORGANIZATION, organizationId: "${organization}"`, 'expiresAt'),
      'switchContext',
    ),
    row(
      'Mutation.revokeSession',
      all,
      unrelated,
      'refused refused refused hidden hidden hidden hidden',
      change('revokeSession', () => `id: "${noSession}"`, 'id'),
      'revokeSession',
    ),
    row(
      'Mutation.revokeSessions',
      all,
      unrelated,
      'refused refused refused empty empty empty empty',
      change('revokeSessions', () => '', 'id'),
      'revokeSessions',
    ),
    row(
      'Mutation.switchOrganization',
      all,
      unrelated,
      peopleOfIt,
      change('switchOrganization', ({ organization }) => `organizationId: "${organization}"`, 'expiresAt'),
      'switchOrganization',
    ),
  ],
  routes: [
    { at: 'GET /identity/api/auth/me', scopes: all, less: unrelated, cells: people, path: () => '/identity/api/auth/me' },
    { at: 'GET /identity/api/auth/apps', scopes: all, less: unrelated, cells: people, path: () => '/identity/api/auth/apps' },
  ],
}
