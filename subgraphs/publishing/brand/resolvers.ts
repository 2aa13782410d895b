import { requireId } from '../../../platform/ids.ts'
import { readPage, toConnection } from '../../../platform/page.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { canSee, owned } from './rules.ts'
import { brandOrder } from './store.ts'

export const brandResolvers: Resolvers = {
  Query: {
    brand: async (_, { id }, { viewer, brandById }) => {
      const key = requireId(id, 'id')
      return owned(viewer, await brandById.load(key), key)
    },
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
    brands: async ({ id }, args, { viewer, brands, brandById }) => {
      const request = readPage(args, brandOrder)
      // An organization that is not the active one shows nothing, as if it had no brands.
      if (viewer.organizationId !== id) return toConnection([], request, brandOrder, async () => 0)
      const rows = await brands.page(id, request)
      for (const row of rows) brandById.prime(row.id, row)
      return toConnection(rows, request, brandOrder, () => brands.count(id))
    },
  },
}
