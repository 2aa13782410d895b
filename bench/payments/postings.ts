import pg from 'pg'
import { bookings } from '../../subgraphs/payments/engines/ledger/movements.ts'
import { post } from '../../subgraphs/payments/engines/ledger/post.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { seedOrder } from '../../test/subgraphs/payments/order/seed.ts'
import { median } from '../table.ts'

/** Movements of a round, and of the warm-up. */
const [each, warming] = [400, 400]

/** Measures postings of the ledger, each in a transaction of its own, beside the same rows by inserts of plain SQL; sequentially, in turns. */
export async function measurePostings({ rounds }: { readonly rounds: number }): Promise<string> {
  await using graph = await supergraph()
  const { organization } = await graph.seed.owner()
  const order = await seedOrder(graph, { organizationId: organization.id })
  const job = graph.platform.payments.job('bench')
  const movement = { ...bookings.captured(1000n), currency: 'EUR', orderId: order.id }
  await using bare = await openBare(graph.database.url)
  const ways = { ledger: () => inTransaction(job, unit => post(job, order, [movement], unit)), bare: () => bare.insert() }
  const rate = { ledger: [] as number[], bare: [] as number[] }
  for (let count = 0; count < warming; count++) await ways.ledger()
  await bare.copyOf(2 * warming)
  for (let count = 0; count < warming; count++) await ways.bare()
  for (let round = 0; round < rounds; round++)
    for (const way of ['ledger', 'bare'] as const) {
      const begin = performance.now()
      for (let count = 0; count < each; count++) await ways[way]()
      rate[way].push((1000 * each) / (performance.now() - begin))
    }
  const ratios = rate.bare.map((bareRate, round) => bareRate / rate.ledger[round]!).sort((one, other) => one - other)
  return `Movements of two entries, each in a transaction of its own, one after the other; ${rounds} rounds of ${each}.

| | movements a second |
| --- | --- |
| the ledger: chain, balances, and the database's own checks | ${median(rate.ledger).toFixed(0)} |
| the same two rows by inserts of plain SQL | ${median(rate.bare).toFixed(0)} |

Time of the ledger ÷ plain SQL: **${median(ratios).toFixed(2)}** [${ratios[0]!.toFixed(2)}-${ratios.at(-1)!.toFixed(2)}].`
}

const columns = [
  ...['merchant_id', 'organization_id', 'id', 'sequence', 'movement_id', 'order_id', 'settlement_batch_id', 'account', 'amount_minor', 'currency', 'kind'],
  ...['posted_at', 'previous_hash', 'hash'],
]

/** A table like the ledger's, with its indexes, and a connection that writes rows like its rows to it. */
async function openBare(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create schema bench')
  await client.query('create table bench.entries (like payments.ledger_entries including all)')
  const text = `insert into bench.entries (${columns.join()}) values ${[0, 1].map(row => `(${columns.map((_, at) => `$${row * columns.length + at + 1}`).join()})`).join()}`
  let rows: Record<string, unknown>[] = []
  let sequence = 0
  return {
    /** Takes rows of the ledger as examples. */
    async copyOf(count: number): Promise<void> {
      rows = (await client.query(`select ${columns.join()} from payments.ledger_entries order by sequence limit ${count}`)).rows
    },
    async insert(): Promise<void> {
      const values = [0, 1].flatMap(() => {
        const row = rows[sequence % rows.length]!
        sequence += 1
        return columns.map(column => (column === 'id' ? crypto.randomUUID() : column === 'sequence' ? sequence : row[column]))
      })
      await client.query('begin')
      await client.query({ name: 'bare', text, values })
      await client.query('commit')
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
