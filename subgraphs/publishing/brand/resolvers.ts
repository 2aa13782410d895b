import { requireId } from '../../../platform/ids.ts'
import { readPage, toConnection } from '../../../platform/page.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { changeBrand, createBrand } from './change.ts'
import { activeOrganization, archive, canSee, editBrand, owned } from './rules.ts'
import { brandOrder } from './store.ts'

export const brandResolvers: Resolvers = {
  Query: {
    brand: async (_, { id }, { viewer, brandById }) => {
      const key = requireId(id, 'id')
      return owned(viewer, await brandById.load(key), key)
    },
    brands: async (_, args, { viewer, brandLists, brandById }) => {
      const organizationId = activeOrganization(viewer, 'Brands')
      const list = args.archived ? brandLists.archived : brandLists.inUse
      const page = await list.load(organizationId, readPage(args, brandOrder))
      for (const brand of page.nodes) brandById.prime(brand.id, brand)
      return page
    },
  },
  Mutation: {
    createBrand: (_, { input }, context) => createBrand(context, input),
    updateBrand: (_, { input }, context) => changeBrand(context, input, 'brand.changed', async brand => editBrand(brand, input)),
    archiveBrand: (_, { input }, context) =>
      changeBrand(context, input, 'brand.archived', async (brand, now, transaction) =>
        archive(brand, await context.brands.scheduled(brand.id, transaction), now),
      ),
    restoreBrand: (_, { input }, context) => changeBrand(context, input, 'brand.restored', async brand => (brand.archivedAt ? { archivedAt: null } : {})),
  },
  Brand: {
    __resolveReference: async ({ id }, { viewer, brandById }) => {
      const brand = await brandById.load(id)
      return canSee(viewer, brand) ? brand : null
    },
    organization: ({ organizationId }) => ({ __typename: 'Organization', id: organizationId }),
    connections: ({ id }, _, { connectionsByBrand }) => connectionsByBrand.load(id),
  },
  BrandConnection: { totalCount: page => page.totalCount() },
  Organization: {
    __resolveReference: ({ id }) => ({ id }),
    brands: async ({ id }, args, { viewer, brandLists, brandById }) => {
      const request = readPage(args, brandOrder)
      // An organization that is not the active one shows nothing, as if it had no brands.
      if (viewer.organizationId !== id) return toConnection([], request, brandOrder, async () => 0)
      const page = await brandLists.all.load(id, request)
      for (const brand of page.nodes) brandById.prime(brand.id, brand)
      return page
    },
  },
}
