import { type AccessRows, all, change, constant, publicRoute, row, services, unrelated } from '../../../../access/row.ts'

const client = `name: "Of the matrix", type: PUBLIC, redirectUris: ["https://app.test/callback"], scopes: ["openid"]`

/** Nobody of the columns administers the platform: `client.test.ts` says what its admins may do, and that keys and owners may not. */
const nobodyHere = services

export const access: AccessRows = {
  fields: [
    row('Query.oauthClients', all, unrelated, nobodyHere, constant('{ oauthClients { nodes { id } } }'), 'oauthClients'),
    row('Query.consents', all, unrelated, 'refused refused refused  empty    empty    empty    empty', constant('{ consents { id } }'), 'consents'),
    row(
      'Mutation.createOAuthClient',
      all,
      unrelated,
      nobodyHere,
      change('createOAuthClient', () => client, 'secret'),
      'createOAuthClient',
    ),
    row(
      'Mutation.updateOAuthClient',
      all,
      unrelated,
      nobodyHere,
      change('updateOAuthClient', ({ organization }) => `id: "${organization}"`, 'id'),
      'updateOAuthClient',
    ),
    row(
      'Mutation.disableOAuthClient',
      all,
      unrelated,
      nobodyHere,
      change('disableOAuthClient', ({ organization }) => `id: "${organization}"`, 'id'),
      'disableOAuthClient',
    ),
    row(
      'Mutation.revokeConsent',
      all,
      unrelated,
      'refused refused refused  hidden   hidden   hidden   hidden',
      change('revokeConsent', ({ organization }) => `id: "${organization}"`, 'id'),
      'revokeConsent',
    ),
    row(
      'CreatedOAuthClient.client',
      all,
      unrelated,
      nobodyHere,
      change('createOAuthClient', () => client, 'client { id }'),
      'createOAuthClient.client',
    ),
  ],
  routes: (
    [
      'GET /.well-known/openid-configuration',
      'GET /.well-known/oauth-authorization-server',
      'POST /identity/api/auth/oauth2/introspect',
      'GET /identity/consent',
      'POST /identity/consent',
    ] as const
  ).map(at => ({ at, scopes: all, less: unrelated, cells: publicRoute, path: () => at.split(' ')[1]! })),
}
