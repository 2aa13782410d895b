import { type AccessRows, figures, publicRoute, readPosts } from '../../../access/row.ts'

export const access: AccessRows = {
  routes: [
    {
      at: 'GET /payments/api/service-identity',
      scopes: figures,
      less: readPosts,
      cells: publicRoute,
      path: () => '/payments/api/service-identity',
    },
  ],
}
