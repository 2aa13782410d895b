import { type AccessRows, accounts, byScope, readPosts, row } from '../../../access/row.ts'
import { seedConnection } from './seed.ts'

export const access: AccessRows = {
  async made({ graph, owner, ids }) {
    await seedConnection(graph, { brandId: ids.brand!, owner }, { externalAccountId: '1' })
    return {}
  },
  fields: [row('Brand.connections', accounts, readPosts, byScope, ({ brand }) => `{ brand(id: "${brand}") { connections { id } } }`, 'brand.connections')],
}
