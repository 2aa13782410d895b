import { type AccessRows, all, publicRoute, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  routes: [
    { at: 'GET /identity/setup', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/setup?code=nobody-knows' },
    { at: 'POST /identity/setup', scopes: all, less: unrelated, cells: publicRoute, path: () => '/identity/setup?code=nobody-knows' },
  ],
}
