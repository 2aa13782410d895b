import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema, print } from 'graphql'
import { deriveTables } from '../../router/rest/derive/tables.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { openShop } from '../../test/subgraphs/payments/payment/stage.ts'
import { percentile } from '../load/load.ts'
import { demoOwner, type Platform, startPlatform } from '../publishing/platform.ts'
import { median } from '../table.ts'

/** Payments of a round, and of the warm-up. */
const [each, warming] = [100, 60]

const ofGraph = 'mutation($input: PayOrderInput!) { payOrder(input: $input) { id status } }'

/** The operation that `POST /payments/api/orders/:id/pay` runs, as text. */
function ofRest(): string {
  const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'))
  const rows = deriveTables(routeTables, schema).tables.flatMap(table => table.rows.flatMap(row => (row.kind === 'operation' ? [row] : [])))
  return print(rows.find(({ method, path }) => method === 'POST' && path === '/api/orders/:id/pay')!.operation)
}

/** Counts the statements of a payment by either way. */
async function countStatements(): Promise<{ readonly graphql: number; readonly rest: number }> {
  await using shop = await openShop()
  const count = async (document: string) => {
    const counts: number[] = []
    for (let time = 0; time < 3; time++) {
      const { id } = await shop.order()
      const input = { orderId: id, paymentMethodToken: 'pm_card_visa' }
      counts.push((await shop.graph.statements(() => shop.graph.execute(document, { input, ...input }, { as: shop.owner }))).length)
    }
    return counts.at(-1)!
  }
  return { graphql: await count(ofGraph), rest: await count(ofRest()) }
}

/** Opens a platform of its own on the measured core, as the owner of the demo's organization. */
export async function openPlatform(
  stack: AsyncDisposableStack,
): Promise<Platform & { readonly token: string; query: Awaited<ReturnType<typeof demoOwner>>['query'] }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-payments-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const platform = await startPlatform(stack, { env: { DATA_DIR: folder, NODE_ENV: 'production' } })
  const { token, query } = await demoOwner(platform)
  return { ...platform, token, query }
}

export type Open = Awaited<ReturnType<typeof openPlatform>>

/** Creates an order of 10.00 EUR. @returns its id */
export async function createOrder({ query }: Pick<Open, 'query'>): Promise<string> {
  const input = { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1000 }] }
  return (await query<{ createOrder: { id: string } }>('mutation($input: CreateOrderInput!) { createOrder(input: $input) { id } }', { input })).createOrder.id
}

/** Measures payments by GraphQL and by REST: processor time of the whole platform, its sandbox included, and statements. */
export async function measurePay({ rounds }: { readonly rounds: number }): Promise<string> {
  const statements = await countStatements()
  await using stack = new AsyncDisposableStack()
  const platform = await openPlatform(stack)
  const headers = { authorization: `Bearer ${platform.token}`, 'content-type': 'application/json' }
  const post = (path: string, body: object) => fetch(platform.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const ways = {
    graphql: (orderId: string) => post('/graphql', { query: ofGraph, variables: { input: { orderId, paymentMethodToken: 'pm_card_visa' } } }),
    rest: (orderId: string) => post(`/payments/api/orders/${orderId}/pay`, { paymentMethodToken: 'pm_card_visa' }),
  }
  const pay = async (way: keyof typeof ways, id: string): Promise<number> => {
    const begin = performance.now()
    const answer = await ways[way](id)
    const text = await answer.text()
    if (answer.status !== 200 || !/"status":"PAID"/i.test(text)) throw new Error(`${way} answered ${answer.status}: ${text.slice(0, 500)}`)
    return performance.now() - begin
  }
  const ids = async (count: number) => {
    const found: string[] = []
    for (let at = 0; at < count; at++) found.push(await createOrder(platform))
    return found
  }
  for (const way of ['graphql', 'rest'] as const) for (const id of await ids(warming)) await pay(way, id)
  const cpu = { graphql: [] as number[], rest: [] as number[] }
  const p50 = { graphql: [] as number[], rest: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const way of ['graphql', 'rest'] as const) {
      const found = await ids(each)
      const before = platform.server.cpu()
      const times: number[] = []
      for (const id of found) times.push(await pay(way, id))
      cpu[way].push((platform.server.cpu() - before) / each)
      p50[way].push(percentile(Float64Array.from(times).sort(), 0.5))
    }
  const line = (way: keyof typeof ways, title: string) => `| ${title} | ${median(cpu[way]).toFixed(1)} | ${median(p50[way]).toFixed(1)} | ${statements[way]} |`
  return `Payments by card, one after the other, ${rounds} rounds of ${each} each. CPU is that of the platform's process with every subgraph, the processor's sandbox and the event that follows.

| | CPU ms | p50 ms | statements |
| --- | --- | --- | --- |
${line('graphql', 'payOrder at /graphql')}
${line('rest', 'POST /payments/api/orders/:id/pay')}`
}
