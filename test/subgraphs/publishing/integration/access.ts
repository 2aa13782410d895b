import { type AccessRows, accounts, all, change, publicRoute, row, unrelated } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
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
