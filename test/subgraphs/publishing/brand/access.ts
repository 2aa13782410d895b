import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, accounts, byScope, byScopeEachTheirOwn, change, constant, type Ids, readPosts, row } from '../../../access/row.ts'

/** Enough to be answered with the brand that was changed. */
const writeAccounts: readonly Scope[] = ['publishing:accounts.write']

const brand = (field: string) => (ids: Ids) => `{ brand(id: "${ids.brand}") { ${field} } }`
const brands = (field: string) => () => `{ viewer { organization { brands { ${field} } } } }`

export const access: AccessRows = {
  fields: [
    row('Query.brand', accounts, readPosts, byScope, brand('id'), 'brand'),
    row('Query.brands', accounts, readPosts, byScopeEachTheirOwn, constant('{ brands { nodes { id } } }'), 'brands'),
    row(
      'Mutation.createBrand',
      writeAccounts,
      accounts,
      'refused yes refused refused refused yes yes',
      change('createBrand', () => `name: "New"`, 'id'),
      'createBrand',
    ),
    row(
      'Mutation.updateBrand',
      writeAccounts,
      accounts,
      accountants,
      change('updateBrand', ({ fresh }) => `id: "${fresh}", name: "New"`, 'id'),
      'updateBrand',
      'brand',
    ),
    row(
      'Mutation.archiveBrand',
      writeAccounts,
      accounts,
      accountants,
      change('archiveBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'archiveBrand',
      'brand',
    ),
    row(
      'Mutation.restoreBrand',
      writeAccounts,
      accounts,
      accountants,
      change('restoreBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'restoreBrand',
      'archived brand',
    ),
    row('Organization.brands', accounts, readPosts, byScopeEachTheirOwn, brands('pageInfo { hasNextPage }'), 'viewer.organization.brands'),
  ],
  routes: [
    { at: 'GET /publishing/api/brands', scopes: accounts, less: readPosts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/brands' },
    {
      at: 'POST /publishing/api/brands',
      scopes: writeAccounts,
      less: accounts,
      cells: 'refused yes refused refused refused yes yes',
      path: () => '/publishing/api/brands',
      body: () => ({ name: 'New' }),
    },
    { at: 'GET /publishing/api/brands/:brandId', scopes: accounts, less: readPosts, cells: byScope, path: ids => `/publishing/api/brands/${ids.brand}` },
    {
      at: 'PUT /publishing/api/brands/:brandId',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}`,
      body: () => ({ name: 'New' }),
      fresh: 'brand',
    },
    {
      at: 'POST /publishing/api/brands/:brandId/archive',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/archive`,
      fresh: 'brand',
    },
    {
      at: 'POST /publishing/api/brands/:brandId/restore',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/restore`,
      fresh: 'archived brand',
    },
  ],
}
