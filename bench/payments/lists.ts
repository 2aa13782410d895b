import { supergraph } from '../../test/kit/supergraph.ts'
import { listsOf, sumsOf, sweepsOf } from '../../test/subgraphs/payments/tables/lists.ts'
import { fill, type Size } from '../../test/subgraphs/payments/tables/rows.ts'
import { measureStatements, type Work } from '../load/statements.ts'

/** Maximum ms of the longest statement of a list, and of what adds up a year. */
const most = { list: 10, sum: 50 } as const

/** Measures every list, sum and sweep of payments on a number of orders. @param plans whether plans of slow statements are written to standard error */
export async function measureLists({ size, runs, plans }: { readonly size: Size; readonly runs: number; readonly plans: boolean }): Promise<string> {
  await using graph = await supergraph()
  const [several, one] = [await graph.seed.owner(), await graph.seed.owner()]
  const begin = performance.now()
  await fill(graph.database.url, { now: graph.clock.now(), owners: [several.organization.id, one.organization.id], size })
  const filled = ((performance.now() - begin) / 1000).toFixed(0)
  const [{ orders, entries }] = (await graph.rows<{ orders: number; entries: number }>(
    'select (select count(*)::int from payments.orders) as orders, (select count(*)::int from payments.ledger_entries) as entries',
  )) as [{ orders: number; entries: number }]
  const merchantOf = async (organizationId: string) =>
    (await graph.rows<{ id: string }>('select id from payments.merchants where organization_id = $1 order by name limit 1', [organizationId]))[0]!.id
  const worlds = [
    { name: `${size.merchants} merchants`, as: several.owner, merchantId: await merchantOf(several.organization.id) },
    { name: 'one merchant', as: one.owner, merchantId: await merchantOf(one.organization.id) },
  ]
  const works = new Map<string, Work>()
  const sums = new Set<string>()
  for (const world of worlds) {
    const ask = (document: string) => async () => (await graph.execute(document, {}, { as: world.as })).data()
    for (const [what, document] of Object.entries(await listsOf(graph, world, 50))) works.set(`${world.name}: ${what}`, ask(document))
    for (const [what, document] of Object.entries(sumsOf(graph))) {
      sums.add(`${world.name}: ${what}`)
      works.set(`${world.name}: ${what}`, ask(document))
    }
  }
  for (const [what, work] of Object.entries(sweepsOf(graph))) works.set(`sweep: ${what}`, work)
  const pattern = /^\s*\(?(select|with|update|delete).*payments\./is
  const mostMs = (what: string): number => (sums.has(what) ? most.sum : most.list)
  const { table, late } = await measureStatements({ url: graph.database.url, works, pattern, runs, only: undefined, mostMs })
  if (plans) console.error(late.join('\n\n'))
  return `${orders.toLocaleString('en')} orders and ${entries.toLocaleString('en')} entries of the ledger, written in ${filled} s; ${runs} runs of each statement; the longest statement of each operation. A list has ${most.list} ms, a sum ${most.sum} ms: ${late.length} take longer.

${table}`
}
