import { describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { shared } from '../../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { createOrder } from '../../documents.ts'

const fields = '{ id name legalName country defaultCurrency status isDefault invoicePrefix taxId supportEmail version }'
const create = `mutation($input: CreateMerchantInput!) { createMerchant(input: $input) ${fields} }`
const update = `mutation($input: UpdateMerchantInput!) { updateMerchant(input: $input) ${fields} }`
const suspend = `mutation($input: SuspendMerchantInput!) { suspendMerchant(input: $input) ${fields} }`
const resume = `mutation($input: ResumeMerchantInput!) { resumeMerchant(input: $input) ${fields} }`
const merchants =
  'query($status: MerchantStatus, $first: Int, $after: String) { merchants(status: $status, first: $first, after: $after) { nodes { name } pageInfo { endCursor } totalCount } }'

const made = async (graph: Supergraph, as: Viewer, input: object = {}) =>
  (await graph.execute(create, { input: { name: 'Bakery', ...input } }, { as })).data().createMerchant

describe('createMerchant', () => {
  const world = shared(() => supergraph())

  it('creates an active merchant with the fields of the input', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const input = {
      name: ' Bakery ',
      legalName: 'Bakery Ltd',
      country: 'DE',
      defaultCurrency: 'JPY',
      invoicePrefix: 'B1',
      taxId: 'DE1',
      supportEmail: 'a@example.com',
    }
    const merchant = await made(graph, owner, input)
    expect(merchant).toEqual({ ...input, id: expect.any(String), name: 'Bakery', status: 'ACTIVE', isDefault: false, version: 1 })
  })

  it('counts prefixes up when none is given, also for merchants created at once', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const all = await Promise.all(Array.from({ length: 5 }, () => made(graph, owner)))
    expect(all.map(({ invoicePrefix }) => invoicePrefix).sort()).toEqual(['INV', 'INV2', 'INV3', 'INV4', 'INV5'])
  })

  it('leaves the prefix of an earlier merchant to it when the first order makes the default merchant', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    await made(graph, owner)
    await graph.execute(createOrder, { input: { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1 }] } }, { as: owner })
    const rows = await graph.rows(
      'select invoice_prefix as prefix, is_default as main from payments.merchants where organization_id = $1 order by is_default',
      [owner.organizationId],
    )
    expect(rows).toEqual([
      { prefix: 'INV', main: false },
      { prefix: 'INV2', main: true },
    ])
  })

  it('creates one merchant when the same key is sent twice', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const [one, two] = [await made(graph, owner, { idempotencyKey: 'k' }), await made(graph, owner, { idempotencyKey: 'k' })]
    expect(two).toEqual(one)
  })

  it.each([
    ['an empty name', { name: ' ' }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['a country in small letters', { country: 'de' }, 'country'],
    ['a region that is no country', { country: 'EU' }, 'country'],
    ['a prefix in small letters', { invoicePrefix: 'inv' }, 'invoicePrefix'],
    ['a prefix of 11 characters', { invoicePrefix: 'ABCDEFGHIJK' }, 'invoicePrefix'],
    ['a tax id of 51 characters', { taxId: 'x'.repeat(51) }, 'taxId'],
  ])('rejects %s with BAD_USER_INPUT and stores nothing', async (_, input, field) => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(create, { input: { name: 'Bakery', ...input } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect((await graph.execute(merchants, {}, { as: owner })).data().merchants.totalCount).toBe(0)
  })

  it('rejects a prefix of another merchant with CONFLICT, but not one of another organization', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    await made(graph, owner, { invoicePrefix: 'A' })
    const again = await graph.execute(create, { input: { name: 'Second', invoicePrefix: 'A' } }, { as: owner })
    expect(again.refused('CONFLICT').extensions).toMatchObject({ reason: 'PREFIX_TAKEN', field: 'invoicePrefix' })
    expect(await made(graph, outsider, { invoicePrefix: 'A' })).toMatchObject({ invoicePrefix: 'A' })
  })
})

describe('updateMerchant', () => {
  const world = shared(() => supergraph())

  it('changes what the input mentions, removes what is null and keeps the rest', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const { id } = await made(graph, owner, { legalName: 'Bakery Ltd', taxId: 'DE1' })
    const answer = await graph.execute(update, { input: { id, name: 'Café', taxId: null, invoicePrefix: 'INV', expectedVersion: 1 } }, { as: owner })
    expect(answer.data().updateMerchant).toMatchObject({ name: 'Café', legalName: 'Bakery Ltd', taxId: null, version: 2 })
    const stale = await graph.execute(update, { input: { id, name: 'Bar', expectedVersion: 1 } }, { as: owner })
    expect(stale.refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION', version: 2 })
  })

  it('gives one of two merchants a prefix that both ask for at once', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const both = [await made(graph, owner), await made(graph, owner)]
    const answers = await Promise.all(both.map(({ id }) => graph.execute(update, { input: { id, invoicePrefix: 'SAME' } }, { as: owner })))
    expect(answers.map(({ code }) => code ?? 'done').sort()).toEqual(['CONFLICT', 'done'])
  })

  it('rejects null for the name and the currency, and NOT_FOUND for another organization', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id } = await made(graph, owner)
    for (const field of ['name', 'defaultCurrency'])
      expect((await graph.execute(update, { input: { id, [field]: null } }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect((await graph.execute(update, { input: { id, name: 'Mine' } }, { as: outsider })).refused('NOT_FOUND').extensions.id).toBe(id)
  })
})

describe('suspendMerchant', () => {
  it('stops new payments until the merchant is resumed, and answers a suspended one as it is', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id } = await made(graph, owner)
    const { merchants: store } = graph.platform.payments.job('test')
    const pay = () => inTransaction(graph.platform.payments.job('test'), ({ transaction }) => store.requireActive(id, transaction))
    await pay()
    for (const _ of [1, 2])
      expect((await graph.execute(suspend, { input: { id } }, { as: owner })).data().suspendMerchant).toMatchObject({ status: 'SUSPENDED', version: 2 })
    await expect(pay()).rejects.toMatchObject({ extensions: { code: 'CONFLICT', reason: 'MERCHANT_SUSPENDED' } })
    expect((await graph.execute(resume, { input: { id } }, { as: owner })).data().resumeMerchant).toMatchObject({ status: 'ACTIVE', version: 3 })
    await pay()
  })

  it('changes once when a key is repeated after another change', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id } = await made(graph, owner)
    const once = { input: { id, idempotencyKey: newId() } }
    await graph.execute(suspend, once, { as: owner })
    await graph.execute(resume, { input: { id } }, { as: owner })
    expect((await graph.execute(suspend, once, { as: owner })).data().suspendMerchant).toMatchObject({ status: 'ACTIVE', version: 3 })
  })
})

describe('merchants', () => {
  it('lists merchants of the organization newest first, page by page, by status', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const ids: string[] = []
    for (const name of ['A', 'B', 'C']) {
      ids.push((await made(graph, owner, { name })).id)
      await graph.clock.advance(1000)
    }
    await graph.execute(suspend, { input: { id: ids[1] } }, { as: owner })
    const list = async (variables: object, as = owner) => (await graph.execute(merchants, { ...variables }, { as })).data().merchants
    const first = await list({ first: 2 })
    expect([first.nodes, first.totalCount]).toEqual([[{ name: 'C' }, { name: 'B' }], 3])
    expect((await list({ first: 2, after: first.pageInfo.endCursor })).nodes).toEqual([{ name: 'A' }])
    expect((await list({ status: 'SUSPENDED' })).nodes).toEqual([{ name: 'B' }])
    expect((await list({}, outsider)).totalCount).toBe(0)
  })
})
