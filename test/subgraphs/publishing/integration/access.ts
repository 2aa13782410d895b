import { type AccessRows, accounts, all, byScope, change, publicRoute, readPosts, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.integrations', accounts, readPosts, byScope, ({ brand }) => `{ integrations(brandId: "${brand}") { platform } }`, 'integrations'),
    row(
      'Mutation.connectIntegration',
      all,
      accounts,
      'refused refused refused refused refused yes hidden',
      change('connectIntegration', ({ brand: id }) => `brandId: "${id}", platform: X`, 'authorizationUrl'),
      'connectIntegration',
    ),
  ],
  routes: [
    {
      at: 'GET /publishing/api/integrations',
      scopes: accounts,
      less: readPosts,
      cells: byScope,
      path: ({ brand }) => `/publishing/api/integrations?brandId=${brand}`,
    },
    {
      at: 'POST /publishing/api/integrations/:platform/connect',
      scopes: all,
      less: accounts,
      cells: 'refused refused refused refused refused yes hidden',
      path: () => '/publishing/api/integrations/x/connect',
      body: ids => ({ brandId: ids.brand }),
    },
    {
      at: 'GET /publishing/api/integrations/:platform/callback',
      scopes: all,
      less: unrelated,
      cells: publicRoute,
      path: () => '/publishing/api/integrations/x/callback?state=nobody',
    },
    {
      at: 'POST /publishing/api/integrations/:platform/callback',
      scopes: all,
      less: unrelated,
      cells: publicRoute,
      path: () => '/publishing/api/integrations/x/callback',
    },
  ],
}
