import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keptPlanOf, metBy, type Plan, planOf, rowsMet, statementsOf, waysOf } from '../../../kit/plans.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { type Asking, listsOf, sweepsOf } from './lists.ts'
import { fill } from './rows.ts'

/**
 * Some thousand rows, of which a page or a sweep needs few. `npm run bench -- payments` measures the same on a million orders; here the way
 * counts by which each statement goes, for no machine is so slow that it would matter.
 */
const size = { merchants: 5, ordersAMerchant: 400, ordersOfOne: 3_000, elsewhere: 5 }
/** How long pages are, and how many rows a statement may meet for one. */
const [first, mostRows] = [20, 700]
/** A table with fewer rows is read as fast from end to end as by an index. */
const fewRows = 1_000
const reading = /^\s*\(?(select|with|update|delete).*payments\./is

let graph: Supergraph
let worlds: readonly Asking[]
let client: pg.Client

beforeAll(async () => {
  graph = await supergraph()
  const [several, one] = [await graph.seed.owner(), await graph.seed.owner()]
  await fill(graph.database.url, { now: graph.clock.now(), owners: [several.organization.id, one.organization.id], size })
  worlds = await Promise.all(
    [several, one].map(async ({ owner: as, organization }) => {
      const [merchant] = await graph.rows<{ id: string }>('select id from payments.merchants where organization_id = $1 order by name limit 1', [
        organization.id,
      ])
      return { as, merchantId: merchant!.id }
    }),
  )
  client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
}, 120_000)
afterAll(async () => {
  await client.end()
  await graph[Symbol.asyncDispose]()
})

/** The plans of what some work reads, for its values and for any; what the statements write for them is undone. */
async function plansOf(work: () => Promise<unknown>): Promise<Plan[]> {
  const asked = await statementsOf(work, reading)
  expect(asked).not.toEqual([])
  const plans: Plan[] = []
  for (const statement of asked)
    for (const explain of [planOf, keptPlanOf]) {
      await client.query('begin')
      plans.push(await explain(client, statement))
      await client.query('rollback')
    }
  return plans
}

/** Statements that read a table from end to end, or meet more rows than what they show needs. */
async function astray(what: string, work: () => Promise<unknown>): Promise<string[]> {
  return (await plansOf(work)).flatMap(plan => {
    const whole = plan.nodes.filter(node => node['Node Type'] === 'Seq Scan' && metBy(node) > fewRows).map(node => node['Relation Name'])
    const met = rowsMet(plan)
    if (whole.length === 0 && met <= mostRows) return []
    return [`${what} reads ${whole.join(', ') || 'no table'} from end to end and meets ${met} rows:\n${plan.sql}\n${waysOf(plan)}`]
  })
}

const asking = (document: string, as: Asking['as']) => async () => (await graph.execute(document, {}, { as })).data()

describe('with many orders', () => {
  test('every list uses an index, for an organization with several merchants and for one merchant with all orders', async () => {
    const wrong: string[] = []
    for (const world of worlds)
      for (const [what, document] of Object.entries(await listsOf(graph, world, first))) wrong.push(...(await astray(what, asking(document, world.as))))
    expect(wrong.join('\n\n')).toBe('')
  })

  test.each([
    ['orders(merchantId)', 'orders_of_seller'],
    ['invoices(merchantId)', 'invoices_of_seller'],
    ['paymentWebhooks, deliveries', 'webhook_deliveries_by_endpoint'],
  ])('%s is read in its order, along %s, and not sorted', async (what, index) => {
    for (const world of worlds) {
      const plans = await plansOf(asking((await listsOf(graph, world, first))[what]!, world.as))
      // The last statement reads the list, by either kind of plan.
      for (const plan of plans.slice(-2)) expect(waysOf(plan)).toContain(index)
    }
  })

  test('each sweep uses an index', async () => {
    const wrong: string[] = []
    for (const [what, work] of Object.entries(sweepsOf(graph))) wrong.push(...(await astray(what, work)))
    expect(wrong.join('\n\n')).toBe('')
  })

  test('a list costs as many statements however long its page is', async () => {
    const [world] = worlds
    const [short, long] = [await listsOf(graph, world!, 2), await listsOf(graph, world!, 10)]
    const count = async (document: string) => (await graph.statements(asking(document, world!.as))).length
    for (const [what, document] of Object.entries(short)) {
      const few = await count(document)
      expect(await count(long[what]!), what).toBeLessThanOrEqual(few)
    }
  })
})
