import { type AccessRows, accounts, byScope, readPosts, row } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [row('Brand.connections', accounts, readPosts, byScope, ({ brand }) => `{ brand(id: "${brand}") { connections { id } } }`, 'brand.connections')],
}
