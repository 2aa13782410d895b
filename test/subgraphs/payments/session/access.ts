import { type AccessRows, figures, publicRoute, readPosts } from '../../../access/row.ts'

export const access: AccessRows = {
  routes: [
    { at: 'GET /payments/login', scopes: figures, less: readPosts, cells: publicRoute, path: () => '/payments/login' },
    {
      at: 'POST /payments/api/session',
      scopes: figures,
      less: readPosts,
      cells: publicRoute,
      path: () => '/payments/api/session',
      body: () => ({ code: 'none' }),
    },
  ],
}
