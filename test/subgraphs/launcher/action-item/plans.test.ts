import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { planOf, rowsMet, statementsOf, waysOf } from '../../../kit/plans.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

let graph: Supergraph
let client: pg.Client
let owner: Viewer

beforeAll(async () => {
  graph = await supergraph()
  ;({ owner } = await graph.seed.owner())
  client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
  // 10,000 open items of one person, a tenth of each audience's share closed, and as many of another organization.
  await graph.rows(
    `insert into launcher.action_items (id, app, key, kind, severity, status, organization_id, audience, user_id, subject_id, title, url,
       opened_at, closed_at, created_at, updated_at, created_by)
     select gen_random_uuid(), 'agents', n::text || o.id, 'ANY', (array['CRITICAL', 'HIGH', 'NORMAL', 'LOW'])[1 + n % 4],
       case when n % 11 = 0 then 'DONE' else 'OPEN' end, o.id, (array['organization', 'managers', 'person'])[1 + n % 3], case when n % 3 = 2 then $2::uuid end, 's', 't',
       'https://a.test/', $3::timestamptz - n * interval '1 second', case when n % 11 = 0 then $3::timestamptz end, $3, $3, 'test'
     from generate_series(1, 11000) n, unnest($1::uuid[]) o (id)`,
    [[owner.organizationId, '00000000-0000-4000-8000-000000000000'], owner.userId, graph.clock.now()],
  )
  await graph.rows(
    `insert into launcher.action_item_snoozes (user_id, item_id, until, updated_at)
     select $1, id, $2, $2 from launcher.action_items where organization_id = $3 and status = 'OPEN' limit 400`,
    [owner.userId, graph.clock.in(3_600_000), owner.organizationId],
  )
  await client.query('analyze launcher.action_items; analyze launcher.action_item_snoozes')
}, 60_000)
afterAll(async () => {
  await client.end()
  await graph[Symbol.asyncDispose]()
})

const page = (filter: string, after: string | null = null) =>
  graph.execute(`query($after: String) { actionItems(first: 20${filter}, after: $after) { nodes { id } pageInfo { endCursor } } }`, { after }, { as: owner })

it.each([
  '',
  ', status: [SNOOZED, OPEN]',
  ', status: [DONE]',
  ', severity: LOW',
])('a page of 10,000 items%s meets about as many rows as it shows, also further on', async filter => {
  for (const after of [null, (await page(filter)).data().actionItems.pageInfo.endCursor]) {
    const [asked, ...others] = await statementsOf(() => page(filter, after), /from launcher\.action_items/)
    expect(others.filter(({ text }) => text.includes('cross join lateral'))).toEqual([])
    const plan = await planOf(client, asked!)
    // A page of each of three audiences, and the snoozes that it leaves out.
    expect(rowsMet(plan), waysOf(plan)).toBeLessThan(300)
    expect(
      plan.nodes.filter(node => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'action_items'),
      waysOf(plan),
    ).toEqual([])
  }
})
