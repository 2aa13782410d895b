import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, byScope, byScopeEachTheirOwn, change, constant, type Fresh, type Ids, readOrders, row } from '../../../../access/row.ts'
import { seedMerchant } from '../merchant/seed.ts'
import { seedVenue } from './seed.ts'

const readVenues: readonly Scope[] = ['payments:venues.read']
const both: readonly Scope[] = ['payments:merchants.read', 'payments:venues.read']
/** Enough to be answered with the venue that was changed; not to read any other. */
const writeVenues: readonly Scope[] = ['payments:venues.write']
/** Of their own merchant, which is not this one. */
const creators = 'refused yes refused refused refused yes hidden'

const freshVenue: Fresh = async ({ graph, ids }) => {
  const organizationId = ids.organization!
  return (await seedVenue(graph, { organizationId, merchantId: ids.soldBy! })).id
}
const freshMerchant: Fresh = async ({ graph, ids }) => (await seedMerchant(graph, { organizationId: ids.organization! })).id

const venue = (field: string) => (ids: Ids) => `{ venue(id: "${ids.venue}") { ${field} } }`

export const access: AccessRows = {
  async made(stage) {
    const { graph, outsider } = stage
    const theirs = { organizationId: outsider.organizationId! }
    await seedVenue(graph, { ...theirs, merchantId: (await seedMerchant(graph, theirs)).id })
    const id = await freshVenue(stage)
    await graph.rows(`update payments.venues set address = '{"city": "Berlin"}' where id = $1`, [id])
    return { venue: id }
  },
  fields: [
    row('Query.venue', readVenues, readOrders, byScope, venue('id'), 'venue'),
    row('Query.venues', readVenues, readOrders, byScopeEachTheirOwn, constant('{ venues { nodes { id } } }'), 'venues'),
    row(
      'Mutation.createVenue',
      writeVenues,
      readVenues,
      creators,
      change('createVenue', ({ fresh }) => `merchantId: "${fresh}", name: "New"`, 'id'),
      'createVenue',
      freshMerchant,
    ),
    ...(['update', 'archive', 'restore'] as const).map(verb =>
      row(
        `Mutation.${verb}Venue`,
        writeVenues,
        readVenues,
        accountants,
        change(`${verb}Venue`, ({ fresh }) => `id: "${fresh}"`, 'id'),
        `${verb}Venue`,
        freshVenue,
      ),
    ),
    row('Venue.merchant', both, readVenues, byScope, venue('merchant { id }'), 'venue.merchant'),
    row('Merchant.venues', both, ['payments:merchants.read'], byScope, ({ soldBy }) => `{ merchant(id: "${soldBy}") { venues { id } } }`, 'merchant.venues'),
  ],
  routes: [
    { at: 'GET /payments/api/venues', scopes: readVenues, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/venues' },
    {
      at: 'POST /payments/api/venues',
      scopes: writeVenues,
      less: readVenues,
      cells: creators,
      path: () => '/payments/api/venues',
      body: ({ fresh }) => ({ merchantId: fresh, name: 'New' }),
      fresh: freshMerchant,
    },
    { at: 'GET /payments/api/venues/:id', scopes: readVenues, less: readOrders, cells: byScope, path: ids => `/payments/api/venues/${ids.venue}` },
    {
      at: 'PUT /payments/api/venues/:id',
      scopes: writeVenues,
      less: readVenues,
      cells: accountants,
      path: ids => `/payments/api/venues/${ids.fresh}`,
      body: () => ({ name: 'New' }),
      fresh: freshVenue,
    },
    ...(['archive', 'restore'] as const).map(verb => ({
      at: `POST /payments/api/venues/:id/${verb}`,
      scopes: writeVenues,
      less: readVenues,
      cells: accountants,
      path: (ids: Ids) => `/payments/api/venues/${ids.fresh}/${verb}`,
      fresh: freshVenue,
    })),
  ],
}
