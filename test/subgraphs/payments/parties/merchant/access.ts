import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, byScope, byScopeEachTheirOwn, change, constant, type Fresh, readOrders, row } from '../../../../access/row.ts'
import { seedMerchant } from './seed.ts'

const readMerchants: readonly Scope[] = ['payments:merchants.read']
/** Enough to be answered with the merchant that was changed; not to read any other. */
const writeMerchants: readonly Scope[] = ['payments:merchants.write']
const creators = 'refused yes refused refused refused yes yes'

const freshMerchant: Fresh = async ({ graph, ids }) => (await seedMerchant(graph, { organizationId: ids.organization! })).id

const verbs = ['update', 'suspend', 'resume'] as const

export const access: AccessRows = {
  made: async stage => ({ soldBy: await freshMerchant(stage) }),
  fields: [
    row('Query.merchant', readMerchants, readOrders, byScope, ({ soldBy }) => `{ merchant(id: "${soldBy}") { id } }`, 'merchant'),
    row('Query.merchants', readMerchants, readOrders, byScopeEachTheirOwn, constant('{ merchants { nodes { id } } }'), 'merchants'),
    row(
      'Mutation.createMerchant',
      writeMerchants,
      readMerchants,
      creators,
      change('createMerchant', () => 'name: "New"', 'id'),
      'createMerchant',
    ),
    ...verbs.map(verb =>
      row(
        `Mutation.${verb}Merchant`,
        writeMerchants,
        readMerchants,
        accountants,
        change(`${verb}Merchant`, ({ fresh }) => `id: "${fresh}"`, 'id'),
        `${verb}Merchant`,
        freshMerchant,
      ),
    ),
  ],
  routes: [
    { at: 'GET /payments/api/merchants', scopes: readMerchants, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/merchants' },
    {
      at: 'POST /payments/api/merchants',
      scopes: writeMerchants,
      less: readMerchants,
      cells: creators,
      path: () => '/payments/api/merchants',
      body: () => ({ name: 'New' }),
    },
    {
      at: 'GET /payments/api/merchants/:id',
      scopes: readMerchants,
      less: readOrders,
      cells: byScope,
      path: ids => `/payments/api/merchants/${ids.soldBy}`,
    },
    {
      at: 'PUT /payments/api/merchants/:id',
      scopes: writeMerchants,
      less: readMerchants,
      cells: accountants,
      path: ids => `/payments/api/merchants/${ids.fresh}`,
      body: () => ({ name: 'New' }),
      fresh: freshMerchant,
    },
    ...(['suspend', 'resume'] as const).map(verb => ({
      at: `POST /payments/api/merchants/:id/${verb}`,
      scopes: writeMerchants,
      less: readMerchants,
      cells: accountants,
      path: (ids: Readonly<Record<string, string>>) => `/payments/api/merchants/${ids.fresh}/${verb}`,
      fresh: freshMerchant,
    })),
  ],
}
