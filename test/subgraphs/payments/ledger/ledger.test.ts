import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { genesisHash } from '../../../../subgraphs/payments/engines/ledger/chain.ts'
import { bookings } from '../../../../subgraphs/payments/engines/ledger/movements.ts'
import { post } from '../../../../subgraphs/payments/engines/ledger/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { seedOrder } from '../order/seed.ts'
import { openShop } from '../payment/stage.ts'
import { seedMovements } from './seed.ts'

const entriesQuery = `query($merchantId: ID, $orderId: ID, $account: String, $first: Int, $after: String) {
  ledgerEntries(merchantId: $merchantId, orderId: $orderId, account: $account, first: $first, after: $after) {
    nodes { merchantId sequence movementId account amount { amountMinor currency } kind orderId settlementBatchId postedAt previousHash hash }
    pageInfo { hasNextPage endCursor } totalCount } }`
const accountsQuery = 'query($merchantId: ID) { ledgerAccounts(merchantId: $merchantId) { nodes { code merchantId balance { amountMinor currency } } } }'
const verificationQuery = `query($merchantId: ID) { ledgerVerification(merchantId: $merchantId) {
  ok entries headHash brokenAt unbalancedMovements totals { amountMinor currency } } }`

/** An organization with an order, of which nothing is paid yet. */
async function shop(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const order = await seedOrder(graph, { organizationId: owner.organizationId! })
  const ask = async (document: string, variables: object = {}, as = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  return {
    ...{ owner, outsider, order, ask },
    entries: async (variables: object = {}, as = owner) => (await ask(entriesQuery, variables, as)).ledgerEntries,
    verify: async (variables: object = {}) => (await ask(verificationQuery, variables)).ledgerVerification,
  }
}

describe('the ledger', () => {
  it('chains the entries of a merchant by hashes that anybody can work out, and keeps a balance an account', async () => {
    await using graph = await supergraph({ now: '2027-03-01T09:30:00.007Z' })
    const { order, entries, verify, ask } = await shop(graph)
    await seedMovements(graph, order)
    await seedMovements(graph, order, [
      { ...bookings.refunded(300n), currency: 'EUR', orderId: order.id },
      { ...bookings.captured(70n), currency: 'JPY', orderId: order.id },
    ])
    const { nodes } = await entries({ orderId: order.id })
    expect(nodes.map(({ sequence, account, amount, kind }: never) => [sequence, account, amount, kind])).toEqual([
      [1, 'processor', { amountMinor: 1000, currency: 'EUR' }, 'CAPTURE'],
      [2, 'merchant', { amountMinor: -1000, currency: 'EUR' }, 'CAPTURE'],
      [3, 'merchant', { amountMinor: 300, currency: 'EUR' }, 'REFUND'],
      [4, 'processor', { amountMinor: -300, currency: 'EUR' }, 'REFUND'],
      [5, 'processor', { amountMinor: 70, currency: 'JPY' }, 'CAPTURE'],
      [6, 'merchant', { amountMinor: -70, currency: 'JPY' }, 'CAPTURE'],
    ])
    let previous = genesisHash
    for (const { merchantId, sequence, movementId, account, amount, postedAt, previousHash, hash } of nodes) {
      expect(previousHash).toBe(previous)
      const text = [previous, merchantId, sequence, movementId, account, amount.amountMinor, amount.currency, postedAt].join('\n')
      previous = createHash('sha256').update(text).digest('hex')
      expect(hash).toBe(previous)
    }
    const zero = ['EUR', 'JPY'].map(currency => ({ amountMinor: 0, currency }))
    expect(await verify()).toEqual({ ok: true, entries: 6, headHash: previous, brokenAt: null, unbalancedMovements: [], totals: zero })
    const accounts = (await ask(accountsQuery)).ledgerAccounts.nodes.map(({ code, balance }: never) => [code, balance])
    expect(accounts).toHaveLength(4)
    expect(accounts).toEqual(
      expect.arrayContaining([
        ['processor', { amountMinor: 700, currency: 'EUR' }],
        ['merchant', { amountMinor: -700, currency: 'EUR' }],
        ['processor', { amountMinor: 70, currency: 'JPY' }],
        ['merchant', { amountMinor: -70, currency: 'JPY' }],
      ]),
    )
  })

  it('gives fifty postings at once consecutive places in one chain', async () => {
    await using graph = await supergraph()
    const { order, verify } = await shop(graph)
    await Promise.all(Array.from({ length: 50 }, () => seedMovements(graph, order)))
    expect(await verify()).toMatchObject({ ok: true, entries: 100 })
    const [account] = await graph.rows<{ balance: number }>(`select balance_minor::int as balance from payments.ledger_accounts where code = 'processor'`)
    expect(account?.balance).toBe(50_000)
  })

  it('is posted to by the last statement of a payment, so that no other posting of the merchant waits for more than it and the commit', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    const sent = await shop.graph.statements(() => shop.pay(id))
    const [posting] = sent.flatMap((text, at) => (text.includes('payments.post(') ? [at] : []))
    expect(sent[posting! + 1]).toMatch(/^COMMIT/)
  })

  it('writes nothing when the transaction of its posting is rolled back', async () => {
    await using graph = await supergraph()
    const { order, entries } = await shop(graph)
    const job = graph.platform.payments.job('test')
    const failing = inTransaction(job, async unit => {
      await post(job, order, [{ ...bookings.captured(5n), currency: 'EUR' }], unit)
      throw new Error('afterwards')
    })
    await expect(failing).rejects.toThrow('afterwards')
    expect((await entries()).totalCount).toBe(0)
    expect(await graph.rows('select * from payments.ledger_chains')).toEqual([])
  })

  it('is refused by the database when a movement does not balance in each currency', async () => {
    await using graph = await supergraph()
    const { order } = await shop(graph)
    const lopsided = [{ account: 'processor', amountMinor: 5n }]
    await expect(seedMovements(graph, order, [{ kind: 'CAPTURE', legs: lopsided, currency: 'EUR' }])).rejects.toThrow('does not balance in EUR')
    const swapped = [
      { account: 'processor', amountMinor: 5n },
      { account: 'merchant', amountMinor: -5n },
    ]
    const entries = (currency: string, at: number) => `(gen_random_uuid(), $1::uuid, '${swapped[at]!.account}', ${swapped[at]!.amountMinor}, '${currency}')`
    const mixed = graph.rows(
      `insert into payments.ledger_entries (merchant_id, organization_id, sequence, kind, posted_at, previous_hash, hash, id, movement_id, account, amount_minor, currency)
       select $2::uuid, $3::uuid, row_number() over (), 'CAPTURE', now(), repeat('0', 64), repeat('0', 64), e.* from (values ${entries('EUR', 0)}, ${entries('JPY', 1)}) e`,
      [newId(), order.merchantId, order.organizationId],
    )
    await expect(mixed).rejects.toThrow('does not balance in')
    expect(await graph.rows('select * from payments.ledger_entries')).toEqual([])
  })

  it.each([
    ['changed', 'update payments.ledger_entries set amount_minor = 1'],
    ['removed', 'delete from payments.ledger_entries'],
    ['emptied', 'truncate payments.ledger_entries'],
    ['removed by whoever says that its merchant is gone', `set local payments.ledger_removal = 'on'; delete from payments.ledger_entries`],
  ])('is never %s', async (_, sql) => {
    await using graph = await supergraph()
    const { order, verify } = await shop(graph)
    await seedMovements(graph, order)
    await expect(graph.rows(`begin; ${sql}; commit`)).rejects.toThrow(/neither changed nor removed|stay as long/)
    await graph.rows('rollback')
    expect(await verify()).toMatchObject({ ok: true, entries: 2 })
  })

  it('says where it was changed by somebody who can switch the database’s guard off', async () => {
    await using graph = await supergraph()
    const { order, verify } = await shop(graph)
    for (let count = 0; count < 3; count += 1) await seedMovements(graph, order)
    const unguarded = (sql: string) => graph.rows(`begin; set local session_replication_role = 'replica'; ${sql}; commit`)
    await unguarded('update payments.ledger_entries set amount_minor = amount_minor + 1 where sequence = 3')
    expect(await verify()).toMatchObject({ ok: false, entries: 6, brokenAt: 3, totals: [{ amountMinor: 1, currency: 'EUR' }] })
    await unguarded('update payments.ledger_entries set amount_minor = amount_minor - 1 where sequence = 3')
    expect(await verify()).toMatchObject({ ok: true })
    await unguarded('delete from payments.ledger_entries where sequence > 4')
    expect(await verify()).toMatchObject({ ok: false, entries: 4, brokenAt: 5 })
  })

  it('is paged by sequence, narrowed by merchant, order and account, and shows another organization nothing', async () => {
    await using graph = await supergraph()
    const { order, entries, outsider } = await shop(graph)
    await seedMovements(graph, order)
    await seedMovements(graph, order, [{ ...bookings.captured(1n), currency: 'EUR' }])
    const sequences = async (variables: object) => (await entries(variables)).nodes.map(({ sequence }: { sequence: number }) => sequence)
    const first = await entries({ first: 3 })
    expect([first.totalCount, first.pageInfo.hasNextPage]).toEqual([4, true])
    expect(await sequences({ first: 3, after: first.pageInfo.endCursor })).toEqual([4])
    expect(await sequences({ account: 'merchant' })).toEqual([2, 4])
    expect(await sequences({ orderId: order.id })).toEqual([1, 2])
    expect(await sequences({ merchantId: order.merchantId })).toEqual([1, 2, 3, 4])
    expect(await sequences({ merchantId: newId() })).toEqual([])
    expect((await entries({ merchantId: order.merchantId }, outsider)).totalCount).toBe(0)
    const foreign = await graph.execute(verificationQuery, { merchantId: order.merchantId }, { as: outsider })
    expect(foreign.refused('NOT_FOUND').extensions.id).toBe(order.merchantId)
  })

  it('holds and is empty for an organization without postings', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { ledgerVerification } = (await graph.execute(verificationQuery, {}, { as: owner })).data()
    expect(ledgerVerification).toEqual({ ok: true, entries: 0, headHash: genesisHash, brokenAt: null, unbalancedMovements: [], totals: [] })
  })
})
