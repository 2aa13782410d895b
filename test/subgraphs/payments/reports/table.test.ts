import { describe, expect, it } from 'vitest'
import { decimalsOf } from '../../../../subgraphs/payments/http/transactions-csv.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { openShop } from '../payment/stage.ts'

const header = 'id,created_at,type,status,order_number,amount_minor,currency,amount,processor_id'

function get({ platform }: Pick<Supergraph, 'platform'>, as: Viewer, query: Record<string, string>): Promise<Response> {
  const { http } = platform.subgraphs.find(({ registration }) => registration.slug === 'payments')!
  return http!(new Request(`http://localhost:4000/payments/api/transactions.csv?${new URLSearchParams(query)}`), as)
}

describe('decimalsOf', () => {
  it.each([
    [0n, 'EUR', '0.00'],
    [5n, 'EUR', '0.05'],
    [1230n, 'BHD', '1.230'],
    [500n, 'JPY', '500'],
    [999_999_999_999n, 'CLF', '99999999.9999'],
  ])('writes %s of %s as %s', (amount, currency, text) => expect(decimalsOf(amount, currency)).toBe(text))
})

describe('transactions.csv', () => {
  it('has a line for each transaction, with metadata of its order, and nothing that a spreadsheet would run', async () => {
    await using shop = await openShop()
    const paid = await shop.paid(550)
    const value = '=HYPERLINK("x"), y'
    await shop.graph.rows('update payments.orders set metadata = $1::jsonb where id = $2', [JSON.stringify([{ key: 'crm.id', value }]), paid.id])
    const now = shop.graph.clock.now()
    const span = { from: now.toISOString(), to: new Date(now.getTime() + 1).toISOString() }
    const response = await get(shop.graph, shop.owner, { ...span, metadata: 'crm.id,channel' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [transaction] = paid.transactions.nodes
    expect(await response.text()).toBe(
      `${header},metadata.crm.id,metadata.channel\r\n${transaction.id},${now.toISOString()},purchase,succeeded,${paid.number},550,EUR,5.50,${transaction.processorId},"'=HYPERLINK(""x""), y",\r\n`,
    )
    const other = await shop.graph.seed.owner()
    expect(await (await get(shop.graph, other.owner, span)).text(), 'of another organization').toBe(`${header}\r\n`)
  })

  it('has every transaction where thousands were begun at one moment', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid()
    await shop.graph.rows(
      `insert into payments.transactions select (jsonb_populate_record(t, jsonb_build_object('id', n.id))).*
        from payments.transactions t cross join (select gen_random_uuid() as id from generate_series(1, 2500)) n where t.order_id = $1`,
      [id],
    )
    const now = shop.graph.clock.now()
    const lines = (await (await get(shop.graph, shop.owner, { from: now.toISOString(), to: new Date(now.getTime() + 1).toISOString() })).text()).split('\r\n')
    expect(lines).toHaveLength(2503)
    expect(new Set(lines.map(line => line.split(',')[0])).size).toBe(2503)
  })

  it.each([
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2029-01-01T00:00:00Z' }, 'to'],
    [{ metadata: 'a b' }, 'metadata'],
    [{ metadata: Array.from({ length: 21 }, (_, n) => `k${n}`).join(',') }, 'metadata'],
  ])('refuses %j', async (wrong, field) => {
    await using shop = await openShop()
    const response = await get(shop.graph, shop.owner, { from: '2027-01-01T00:00:00Z', to: '2027-02-01T00:00:00Z', ...(wrong as Record<string, string>) })
    expect([response.status, (await response.json()).field]).toEqual([400, field])
  })
})
