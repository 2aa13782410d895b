import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Batch } from '../../../../platform/sql/batch.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { round } from '../delivery/delivering.ts'
import { posts as postsDocument } from '../documents.ts'

/** How many posts the organization has, spread over its brands, statuses, authors and years. */
const howMany = 100_000
const brands = 20
/** How many rows all scans of one statement may meet: of a page of a hundred, from each of the brands a page and a little more. */
const mostRows = 10_000

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}

interface Plan {
  readonly sql: string
  readonly nodes: readonly Node[]
  readonly milliseconds: number
}

let graph: Supergraph
let owner: Viewer
let brandId: string
/** One of seven. */
const author = createHash('md5')
  .update('author-3')
  .digest('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Does the work, and has the database explain each statement that it read publishing's tables by, as it really runs. */
async function plansOf(work: () => Promise<unknown>): Promise<Plan[]> {
  const { sequelize } = graph.database
  const asked: { sql: string; bind: unknown[] }[] = []
  const { query } = pg.Client.prototype
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, ...parameters: unknown[]) {
    const [first, values] = parameters as [string | Batch, unknown[] | undefined]
    const sent = first instanceof Batch ? first.statements : [{ text: String(first), values: Array.isArray(values) ? values : [] }]
    for (const { text, values: bind } of sent) if (/^\s*select.*publishing\./is.test(text)) asked.push({ sql: text, bind: [...bind] })
    return Reflect.apply(query, this, parameters)
  } as never)
  try {
    await work()
  } finally {
    spy.mockRestore()
  }
  expect(asked).not.toEqual([])
  return Promise.all(
    asked.map(async ({ sql, bind }) => {
      const [rows] = await sequelize.query(`explain (analyze, timing off, format json) ${sql}`, { bind })
      const [{ 'QUERY PLAN': plans }] = rows as [{ 'QUERY PLAN': [{ Plan: Node; 'Execution Time': number }] }]
      return { sql, nodes: nodesOf(plans[0].Plan), milliseconds: plans[0]['Execution Time'] }
    }),
  )
}

const rowsMet = ({ nodes }: Plan): number =>
  nodes
    .filter(node => node['Node Type'].endsWith('Scan') && node['Relation Name'])
    .reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0)

/** That every statement of the work goes by indexes and meets few rows. */
async function expectIndexed(what: string, work: () => Promise<unknown>, most = mostRows): Promise<void> {
  for (const plan of await plansOf(work)) {
    const described = `${what}\n${plan.sql}\n${JSON.stringify(plan.nodes, null, 1)}`
    for (const node of plan.nodes) {
      if (node['Relation Name'] !== 'brands') expect(node['Node Type'], described).not.toBe('Seq Scan')
      if (node['Node Type'] === 'Sort') expect(node['Actual Rows'] * node['Actual Loops'], described).toBeLessThanOrEqual(most)
    }
    expect(rowsMet(plan), described).toBeLessThanOrEqual(most)
  }
}

beforeAll(async () => {
  graph = await supergraph()
  const story = graph.seed.owner().brand()
  const seeded = await story
  owner = seeded.owner
  brandId = seeded.brand.id
  for (let count = 1; count < brands; count += 1) await story.brand(`Brand ${count}`)
  const now = graph.clock.now()
  // Every twentieth post of a brand waits for its time or behind a failed one; eight of ten are published.
  // A connection of its own: the platform's give up a statement long before so many rows are written.
  const client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
  await client.query(
    `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, status, scheduled_at, published_at, external_account_id, platform_post_id, failure_code,
       failure_message, failed_at, held_back, author_id, created_at, updated_at, created_by)
     select b.id, gen_random_uuid(), case when kind = 'HELD' then md5(b.id || (n - 1)::text)::uuid else md5(b.id || n::text)::uuid end,
       case when kind = 'HELD' then 2 else 1 end, 'X', 'A post of some length, number ' || n,
       case when kind in ('DUE', 'HELD') then 'SCHEDULED' else kind end,
       case kind when 'SCHEDULED' then $1::timestamptz + n * interval '1 minute' when 'HELD' then $1::timestamptz - n * interval '1 minute' end,
       case when kind = 'PUBLISHED' then $1::timestamptz - n * interval '2 hours' end, b.id, case when kind = 'PUBLISHED' then n::text end,
       case when kind = 'FAILED' then 'NETWORK_REFUSED' end, case when kind = 'FAILED' then 'No.' end, case when kind = 'FAILED' then $1::timestamptz end,
       kind = 'HELD', md5('author-' || n % 7)::uuid, $1::timestamptz - n * interval '1 minute', $1, 'user:author-' || n % 7
     from publishing.brands b cross join generate_series(1, $2::int) n
     cross join lateral (select case n % 20 when 0 then 'DRAFT' when 1 then 'SCHEDULED' when 2 then 'FAILED' when 3 then 'HELD' else 'PUBLISHED' end) as k(kind)`,
    [now, howMany / brands],
  )
  await client.query('vacuum analyze publishing.posts')
  await client.query('analyze publishing.brands')
  await client.end()
}, 120_000)
afterAll(() => graph[Symbol.asyncDispose]())

describe(`with ${howMany.toLocaleString('en')} posts of one organization`, () => {
  const list = (variables: object) => () =>
    graph.execute(postsDocument.replace('totalCount', ''), { ...variables }, { as: owner }).then(answer => expect(answer.data().posts.nodes).not.toEqual([]))

  test.each([
    ['the default list', {}],
    ['a page of a hundred', { first: 100 }],
    ['one brand', () => ({ brandId })],
    ['by author', { authorId: author }],
    ['by author and brand', () => ({ brandId, authorId: author })],
    ['by status', { status: 'FAILED' }],
    ['by a common status', { status: 'PUBLISHED', first: 100 }],
    ['by network', { platform: 'X' }],
    ['by all of them', { status: 'PUBLISHED', platform: 'X', authorId: author }],
    ['by the time that it is set for', () => ({ scheduledAfter: graph.clock.soon(), scheduledBefore: graph.clock.in(86_400_000).toISOString() })],
    ['what is scheduled', () => ({ status: 'SCHEDULED', scheduledAfter: graph.clock.soon() })],
  ] as const)('a page goes by an index: %s', async (what, variables) => {
    await expectIndexed(what, list(typeof variables === 'function' ? variables() : variables))
  })

  test('a page far behind the first costs what the first does', async () => {
    const after = Buffer.from(JSON.stringify(['posts.newest', graph.clock.in(-60_000 * 4_000).toISOString(), brandId])).toString('base64url')
    await expectIndexed('behind a cursor', list({ after }))
    await expectIndexed('behind a cursor, by author', list({ after, authorId: author }))
  })

  test('a thread goes by an index, with and without its brand', async () => {
    const [post] = await graph.rows<{ thread_id: string }>('select thread_id from publishing.posts where brand_id = $1 limit 1', [brandId])
    await expectIndexed('thread', list({ threadId: post!.thread_id }), 100)
    await expectIndexed('thread of a brand', list({ threadId: post!.thread_id, brandId }), 100)
  })

  test('all are counted only when somebody asks how many there are', async () => {
    const statements = await graph.statements(list({}))
    expect(statements.filter(sql => /count\(/.test(sql))).toEqual([])
  })

  test('the widget goes by indexes', () =>
    expectIndexed('widget', () => graph.execute('{ publishingWidget { statistics { key value } items { id } } }', {}, { as: owner })))

  test('each sweep goes by an index, and walks past no post that is held back', () => expectIndexed('sweep', () => round(graph), 100))
})
