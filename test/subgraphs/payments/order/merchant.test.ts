import { expect, test } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { createOrder } from '../documents.ts'

const createOrganization = 'mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id name } }'

test('an organization gets a merchant of its name when it is made', async () => {
  await using graph = await supergraph()
  await graph.platform.identity.start()
  const { owner } = await graph.seed.owner()
  const { createOrganization: made } = (await graph.execute(createOrganization, { input: { name: 'Bakery', slug: 'bakery' } }, { as: owner })).data()
  const merchants = () => graph.rows('select organization_id, name, default_currency, is_default, created_by from payments.merchants')
  await expect.poll(merchants).toEqual([{ organization_id: made.id, name: 'Bakery', default_currency: 'EUR', is_default: true, created_by: 'platform' }])
})

test('an organization whose first order comes before the news of it keeps the merchant of that order', async () => {
  await using graph = await supergraph()
  const { owner, organization } = await graph.seed.owner()
  const input = { currency: 'JPY', lines: [{ name: 'Ticket', unitAmountMinor: 1 }] }
  const { merchantId } = (await graph.execute(createOrder, { input }, { as: owner })).data().createOrder
  const body = { organizationId: organization.id, slug: 'late', name: 'Late' }
  const fact = { id: organization.id, from: 'identity', kind: 'organization.created', subject: `organization:${organization.id}`, at: graph.clock.now(), body }
  for (let told = 0; told < 2; told += 1) expect(await graph.platform.payments.receive!(fact)).toBe('received')
  expect(await graph.rows('select id, name, default_currency from payments.merchants')).toEqual([
    { id: merchantId, name: organization.name, default_currency: 'JPY' },
  ])
})
