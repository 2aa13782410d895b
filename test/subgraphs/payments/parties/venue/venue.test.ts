import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { shared } from '../../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { seedMerchant } from '../merchant/seed.ts'
import { seedVenue } from './seed.ts'

const fields = '{ id merchantId name address { line1 line2 city postalCode country } timeZone status version }'
const create = `mutation($input: CreateVenueInput!) { createVenue(input: $input) ${fields} }`
const update = `mutation($input: UpdateVenueInput!) { updateVenue(input: $input) ${fields} }`
const archive = `mutation($input: ArchiveVenueInput!) { archiveVenue(input: $input) ${fields} }`
const restore = `mutation($input: RestoreVenueInput!) { restoreVenue(input: $input) ${fields} }`
const venues = 'query($merchantId: ID, $status: VenueStatus) { venues(merchantId: $merchantId, status: $status) { nodes { name } totalCount } }'
const createOrder = 'mutation($input: CreateOrderInput!) { createOrder(input: $input) { id venueId venue { name } } }'

const world = shared(() => supergraph())
const stage = async () => {
  const graph = world()
  const { owner, outsider } = await graph.seed.owner().outsider()
  const organizationId = owner.organizationId!
  const { id: merchantId } = await seedMerchant(graph, { organizationId })
  return { graph, owner, outsider, organizationId, merchantId }
}
const made = async (graph: Supergraph, as: Viewer, input: object) => (await graph.execute(create, { input }, { as })).data().createVenue

describe('createVenue', () => {
  it('creates an active venue of the merchant, in UTC unless a zone is given', async () => {
    const { graph, owner, merchantId } = await stage()
    const address = { line1: 'Main St 1', city: 'Berlin', country: 'DE' }
    const venue = await made(graph, owner, { merchantId, name: 'Stall', address })
    expect(venue).toMatchObject({ merchantId, name: 'Stall', timeZone: 'UTC', status: 'ACTIVE', version: 1 })
    expect(venue.address).toEqual({ ...address, line2: null, postalCode: null })
    expect(await made(graph, owner, { merchantId, name: 'Shop', address: {}, timeZone: 'europe/berlin' })).toMatchObject({
      timeZone: 'Europe/Berlin',
      address: null,
    })
  })

  it.each([
    ['an empty name', { name: '' }, 'name'],
    ['an offset instead of a zone', { timeZone: '+02:00' }, 'timeZone'],
    ['a country that is none', { address: { country: 'XX' } }, 'address.country'],
    ['a postal code of 21 characters', { address: { postalCode: 'x'.repeat(21) } }, 'address.postalCode'],
  ])('rejects %s with BAD_USER_INPUT', async (_, input, field) => {
    const { graph, owner, merchantId } = await stage()
    const answer = await graph.execute(create, { input: { merchantId, name: 'Stall', ...input } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  it('rejects a merchant of another organization with NOT_FOUND', async () => {
    const { graph, outsider, merchantId } = await stage()
    expect((await graph.execute(create, { input: { merchantId, name: 'Mine' } }, { as: outsider })).refused('NOT_FOUND').extensions.id).toBe(merchantId)
  })

  it('rejects the venue after the hundredth of a merchant with CONFLICT, whoever creates it at once', async () => {
    const { graph, owner, organizationId, merchantId } = await stage()
    for (let count = 0; count < 99; count += 1) await seedVenue(graph, { organizationId, merchantId })
    const answers = await Promise.all(['A', 'B'].map(name => graph.execute(create, { input: { merchantId, name } }, { as: owner })))
    expect(answers.map(({ code }) => code ?? 'done').sort()).toEqual(['CONFLICT', 'done'])
  })
})

describe('updateVenue', () => {
  it('changes what the input mentions, and nothing of an archived venue', async () => {
    const { graph, owner, merchantId } = await stage()
    const { id } = await made(graph, owner, { merchantId, name: 'Stall', address: { city: 'Berlin' } })
    const changed = (await graph.execute(update, { input: { id, name: 'Shop', address: null } }, { as: owner })).data().updateVenue
    expect(changed).toMatchObject({ name: 'Shop', address: null, timeZone: 'UTC', version: 2 })
    await graph.execute(archive, { input: { id } }, { as: owner })
    expect((await graph.execute(update, { input: { id, name: 'Bar' } }, { as: owner })).refused('CONFLICT').extensions.reason).toBe('VENUE_ARCHIVED')
    expect((await graph.execute(restore, { input: { id } }, { as: owner })).data().restoreVenue).toMatchObject({ status: 'ACTIVE', version: 4 })
  })
})

describe('an order at a venue', () => {
  it('names the venue of its merchant, and none that is archived or of another merchant', async () => {
    const { graph, owner, merchantId, organizationId } = await stage()
    const lines = [{ name: 'Ticket', unitAmountMinor: 1 }]
    const { id: venueId } = await made(graph, owner, { merchantId, name: 'Stall' })
    const order = (input: object) => graph.execute(createOrder, { input: { currency: 'EUR', lines, merchantId, ...input } }, { as: owner })
    expect((await order({ venueId })).data().createOrder).toMatchObject({ venueId, venue: { name: 'Stall' } })
    const { id: other } = await seedMerchant(graph, { organizationId })
    expect((await order({ venueId, merchantId: other })).refused('BAD_USER_INPUT').extensions.field).toBe('venueId')
    await graph.execute(archive, { input: { id: venueId } }, { as: owner })
    expect((await order({ venueId })).refused('CONFLICT').extensions.reason).toBe('VENUE_ARCHIVED')
  })
})

describe('venues', () => {
  it('lists venues of the organization by merchant and status', async () => {
    const { graph, owner, outsider, organizationId, merchantId } = await stage()
    const { id: other } = await seedMerchant(graph, { organizationId })
    await seedVenue(graph, { organizationId, merchantId, name: 'A' })
    await graph.clock.advance(1000)
    await seedVenue(graph, { organizationId, merchantId, name: 'B', status: 'ARCHIVED' })
    await seedVenue(graph, { organizationId, merchantId: other, name: 'C' })
    const list = async (variables: object, as = owner) => (await graph.execute(venues, { ...variables }, { as })).data().venues
    expect((await list({ merchantId })).nodes).toEqual([{ name: 'B' }, { name: 'A' }])
    expect((await list({ status: 'ARCHIVED' })).nodes).toEqual([{ name: 'B' }])
    expect((await list({}, outsider)).totalCount).toBe(0)
    const ofMerchant = await graph.execute(`{ merchant(id: "${merchantId}") { venues { name } } }`, {}, { as: owner })
    expect(ofMerchant.data().merchant.venues).toEqual([{ name: 'A' }, { name: 'B' }])
  })
})
