import { describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { changesOf } from '../../../../../subgraphs/payments/admin/audit/rules.ts'
import { shared } from '../../../../kit/shared.ts'
import { supergraph } from '../../../../kit/supergraph.ts'
import { createOrder } from '../../documents.ts'

const log = `query($entityType: String, $entityId: ID, $action: String, $from: DateTime, $to: DateTime) {
  paymentAuditLog(entityType: $entityType, entityId: $entityId, action: $action, from: $from, to: $to) {
    nodes { action entityType entityId actorKind user { id name } apiKeyId appId requestId changes { field before after } } totalCount } }`
const createMerchant = 'mutation($input: CreateMerchantInput!) { createMerchant(input: $input) { id } }'
const updateMerchant = 'mutation($input: UpdateMerchantInput!) { updateMerchant(input: $input) { id } }'

describe('paymentAuditLog', () => {
  const world = shared(() => supergraph())

  it('lists who changed which field of a record, newest first, with the values before and after', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const { id } = (await graph.execute(createMerchant, { input: { name: 'Before', country: 'DE' } }, { as: owner })).data().createMerchant
    await graph.clock.advance(1000)
    await graph.execute(updateMerchant, { input: { id, name: 'After', country: null } }, { as: owner })
    const { nodes } = (await graph.execute(log, { entityId: id }, { as: owner })).data().paymentAuditLog
    expect(nodes).toMatchObject([
      {
        action: 'updateMerchant',
        entityType: 'Merchant',
        entityId: id,
        actorKind: 'USER',
        user: { id: owner.userId },
        apiKeyId: null,
        changes: [
          { field: 'name', before: 'Before', after: 'After' },
          { field: 'country', before: 'DE', after: null },
        ],
      },
      { action: 'createMerchant', changes: expect.arrayContaining([{ field: 'name', before: null, after: 'Before' }]) },
    ])
  })

  it('writes nothing when an update changes nothing', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const { id } = (await graph.execute(createMerchant, { input: { name: 'Same' } }, { as: owner })).data().createMerchant
    await graph.execute(updateMerchant, { input: { id, name: 'Same' } }, { as: owner })
    expect((await graph.execute(log, { entityId: id }, { as: owner })).data().paymentAuditLog.totalCount).toBe(1)
  })

  it('names the key when a key made the change', async () => {
    const graph = world()
    const { owner, key } = await graph.seed.owner().key('payments:merchants.write')
    await graph.execute(createMerchant, { input: { name: 'By a key' } }, { as: key })
    const { nodes } = (await graph.execute(log, {}, { as: owner })).data().paymentAuditLog
    expect(nodes[0]).toMatchObject({ actorKind: 'API_KEY', user: null, apiKeyId: key.keyId })
  })

  it('is narrowed by type, mutation, record and time, and shows nothing of another organization', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id } = (await graph.execute(createMerchant, { input: { name: 'One' } }, { as: owner })).data().createMerchant
    await graph.clock.advance(60_000)
    await graph.execute(createOrder, { input: { currency: 'EUR', merchantId: id, lines: [{ name: 'Ticket', unitAmountMinor: 1 }] } }, { as: owner })
    const found = async (variables: object, as = owner) =>
      (await graph.execute(log, { ...variables }, { as })).data().paymentAuditLog.nodes.map(({ action }: { action: string }) => action)
    const middle = graph.clock.in(-30_000)
    expect(await found({})).toEqual(['createOrder', 'createMerchant'])
    expect(await found({ entityType: 'Order' })).toEqual(['createOrder'])
    expect(await found({ action: 'createMerchant' })).toEqual(['createMerchant'])
    expect(await found({ entityId: newId() })).toEqual([])
    expect(await found({ from: middle })).toEqual(['createOrder'])
    expect(await found({ to: middle })).toEqual(['createMerchant'])
    expect(await found({}, outsider)).toEqual([])
  })

  it('rejects a type that is no name with BAD_USER_INPUT', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    expect((await graph.execute(log, { entityType: "x'" }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe('entityType')
  })

  it('keeps its entries from every change, deletion and truncation', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    await graph.execute(createMerchant, { input: { name: 'Kept' } }, { as: owner })
    for (const sql of ["update payments.audit_entries set actor = 'nobody'", 'delete from payments.audit_entries', 'truncate payments.audit_entries'])
      await expect(graph.rows(sql)).rejects.toThrow('neither changed nor removed')
  })
})

describe('changesOf', () => {
  const row = { name: 'A', email: 'a@example.com' as string | null, minutes: 30 as number | bigint, at: new Date(0) }

  it('writes what is no text as JSON, and times in ISO 8601', () => {
    expect(changesOf(row, { ...row, minutes: 60n, at: new Date(1) }, ['minutes', 'at'])).toEqual([
      { field: 'minutes', before: '30', after: '"60"' },
      { field: 'at', before: '1970-01-01T00:00:00.000Z', after: '1970-01-01T00:00:00.001Z' },
    ])
  })

  it('names a hidden field without its values', () => {
    expect(changesOf(row, { ...row, email: null }, ['name', 'email'], ['email'])).toEqual([{ field: 'email', before: null, after: null }])
  })
})
