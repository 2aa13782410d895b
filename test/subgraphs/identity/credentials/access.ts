import { type AccessRows, all, publicRoute, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  routes: [
    { at: '* /identity/api/auth/*', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/api/auth/no-such-thing' },
    { at: 'GET /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
    { at: 'POST /identity/login', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/login' },
  ],
}
