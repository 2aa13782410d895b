import { type AccessRows, all, constant, publicRoute, row, services, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.signingKeys', all, unrelated, services, constant('{ signingKeys { kid } }'), 'signingKeys'),
    row('Mutation.rotateSigningKey', all, unrelated, services, constant('mutation { rotateSigningKey(input: {}) { kid } }'), 'rotateSigningKey'),
  ],
  routes: [
    { at: '* /identity/api/auth/*', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/api/auth/no-such-thing' },
    { at: 'GET /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
    { at: 'POST /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
  ],
}
