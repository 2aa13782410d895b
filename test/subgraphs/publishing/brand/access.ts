import type { Scope } from '../../../../subgraphs/scopes.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import {
  type AccessRows,
  accountants,
  accounts,
  all,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  readPosts,
  row,
} from '../../../access/row.ts'
import { seedBrand } from './seed.ts'

/** Enough to be answered with the brand that was changed. */
const writeAccounts: readonly Scope[] = ['publishing:accounts.write']

/** No key: only a person, who administers the organization. */
const ownersOfIt = 'refused refused refused refused refused yes hidden'

const brand = (field: string) => (ids: Ids) => `{ brand(id: "${ids.brand}") { ${field} } }`
const brands = (field: string) => () => `{ viewer { organization { brands { ${field} } } } }`

const freshBrand: Fresh = async ({ graph, ids }) => (await seedBrand(graph, { organizationId: ids.organization! })).id

const archivedBrand: Fresh = async stage => {
  const { clock, job } = stage.graph
  const id = await freshBrand(stage)
  await inTransaction(job, async ({ transaction }) => job.brands.update((await job.brands.lock(id, transaction))!, { archivedAt: clock.now() }, transaction))
  return id
}

export const access: AccessRows = {
  async made(stage) {
    const id = await freshBrand(stage)
    await stage.graph.rows('update publishing.brands set approver_ids = $1 where id = $2', [[stage.owner.userId], id])
    return { brand: id }
  },
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
      freshBrand,
    ),
    row(
      'Mutation.archiveBrand',
      writeAccounts,
      accounts,
      accountants,
      change('archiveBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'archiveBrand',
      freshBrand,
    ),
    row(
      'Mutation.restoreBrand',
      writeAccounts,
      accounts,
      accountants,
      change('restoreBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'restoreBrand',
      archivedBrand,
    ),
    row(
      'Mutation.pauseBrand',
      writeAccounts,
      accounts,
      accountants,
      change('pauseBrand', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'pauseBrand',
      freshBrand,
    ),
    row(
      'Mutation.resumeBrand',
      writeAccounts,
      accounts,
      accountants,
      change('resumeBrand', ({ fresh }) => `id: "${fresh}", overdue: SEND`, 'id'),
      'resumeBrand',
      freshBrand,
    ),
    // To where it is already: nobody here is a member of two organizations.
    row(
      'Mutation.transferBrand',
      all,
      accounts,
      ownersOfIt,
      change('transferBrand', ({ fresh, organization }) => `id: "${fresh}", organizationId: "${organization}"`, 'id'),
      'transferBrand',
      freshBrand,
    ),
    row('Brand.approvers', accounts, readPosts, byScope, brand('approvers { id }'), 'brand.approvers'),
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
      fresh: freshBrand,
    },
    {
      at: 'POST /publishing/api/brands/:brandId/archive',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/archive`,
      fresh: freshBrand,
    },
    {
      at: 'POST /publishing/api/brands/:brandId/restore',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/restore`,
      fresh: archivedBrand,
    },
    {
      at: 'POST /publishing/api/brands/:brandId/pause',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/pause`,
      fresh: freshBrand,
    },
    {
      at: 'POST /publishing/api/brands/:brandId/resume',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: ids => `/publishing/api/brands/${ids.fresh}/resume`,
      body: () => ({ overdue: 'revert' }),
      fresh: freshBrand,
    },
    {
      at: 'POST /publishing/api/brands/:brandId/transfer-organization',
      scopes: all,
      less: accounts,
      cells: ownersOfIt,
      path: ids => `/publishing/api/brands/${ids.fresh}/transfer-organization`,
      body: ({ organization }) => ({ organizationId: organization }),
      fresh: freshBrand,
    },
  ],
}
