import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { daySumsSweep } from '../../../../subgraphs/publishing/insight/analytics/sum-up.ts'
import { metBy, type Plan, planOf, rowsMet, statementsOf, waysOf } from '../../../kit/plans.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { type Asking, listsOf, sweepsOf } from './lists.ts'
import { fill } from './rows.ts'

/**
 * Some thousand rows, of which a page or a sweep needs few. `npm run bench:publishing -- lists` measures the same on a million; here the
 * way counts by which each statement goes, for no machine is so slow that it would matter.
 */
const size = { brands: 10, postsABrand: 200, postsOfOne: 4_000, elsewhere: 10, overdue: 1_000 }
/** How long pages are, and how many rows a statement may meet for one: of each of ten brands and of each network a page, and some. */
const first = 20
const mostRows = 2_500
/** A table with fewer rows is read as fast from end to end as by an index. */
const fewRows = 1_200
/** What of all posts is asked for, of which any way is as good as another: it meets each a few times. */
const wide: Readonly<Record<string, number>> = { 'posts(a year)': 10_000 }
const reading = /^\s*\(?(select|with|update|delete).*publishing\./is

let graph: Supergraph
let worlds: readonly Asking[]
let client: pg.Client

beforeAll(async () => {
  graph = await supergraph()
  const [several, one] = [await graph.seed.owner(), await graph.seed.owner()]
  await fill(graph.database.url, { now: graph.clock.now(), owners: [several.organization.id, one.organization.id], size })
  await Promise.all([daySumsSweep(() => graph.job).run(), graph.job.rareParts.learn()])
  worlds = await Promise.all(
    [several, one].map(async ({ owner: as, organization }) => {
      const [brand] = await graph.rows<{ id: string }>('select id from publishing.brands where organization_id = $1 order by name limit 1', [organization.id])
      return { as, brandId: brand!.id }
    }),
  )
  client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
}, 60_000)
afterAll(async () => {
  await client.end()
  await graph[Symbol.asyncDispose]()
})

/** The plans of what some work reads; what the statements write for them is undone. */
async function plansOf(work: () => Promise<unknown>): Promise<Plan[]> {
  const asked = await statementsOf(work, reading)
  expect(asked).not.toEqual([])
  const plans: Plan[] = []
  for (const statement of asked) {
    await client.query('begin')
    plans.push(await planOf(client, statement))
    await client.query('rollback')
  }
  return plans
}

/** That no statement reads a table from end to end, or meets more rows than what it shows needs. */
async function expectIndexed(what: string, work: () => Promise<unknown>, most = mostRows): Promise<void> {
  for (const plan of await plansOf(work)) {
    const whole = plan.nodes.filter(node => node['Node Type'] === 'Seq Scan' && metBy(node) > fewRows).map(node => node['Relation Name'])
    const met = rowsMet(plan)
    if (whole.length > 0 || met > most)
      expect.fail(`${what} reads ${whole.join(', ') || 'no table'} from end to end and meets ${met} rows:\n${plan.sql}\n${waysOf(plan)}`)
  }
}

const asking = (document: string, as: Asking['as']) => async () => (await graph.execute(document, {}, { as })).data()

describe('with many posts', () => {
  test('every list uses an index, for an organization with many brands and for one brand with all posts', async () => {
    for (const world of worlds)
      for (const [what, document] of Object.entries(await listsOf(graph, world, first))) await expectIndexed(what, asking(document, world.as), wide[what])
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

  test('the total is counted only when it is selected', async () => {
    const statements = await graph.statements(asking('{ posts { nodes { id } pageInfo { hasNextPage } } }', worlds[0]!.as))
    expect(statements.filter(sql => /count\(/.test(sql))).toEqual([])
  })

  test('each sweep uses an index, and skips posts that are held back', async () => {
    for (const [what, work] of Object.entries(sweepsOf(graph, worlds[1]!))) await expectIndexed(what, work)
  })

  test('posts are found by their present text, whatever happened to them', async () => {
    const { owner, post } = await graph.seed.owner().brand().post({ copy: 'Of Größe and 100 % wool' })
    const found = async (given: string) =>
      (await graph.execute(`{ posts(${given}) { nodes { id } } }`, {}, { as: owner })).data().posts.nodes.map(({ id }: { id: string }) => id)
    expect(await found('search: "GRÖSSE"')).toEqual([])
    expect(await found('search: "größe AND"')).toEqual([post.id])
    expect(await found('search: "0 % w"')).toEqual([post.id])
    expect(await found('search: "0 _ w"')).toEqual([])
    // Of what is looked for by its rare part alone, the rest counts as well.
    expect(await found('search: "100 % WOOL"')).toEqual([post.id])
    expect(await found('search: "200 % wool"')).toEqual([])
    expect(await found('search: "wooly"')).toEqual([])
    const update = (input: object) =>
      graph.execute('mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }', { input: { id: post.id, ...input } }, { as: owner })
    ;(await update({ title: 'A title', tags: ['Wool', 'WOOL', 'Größe'] })).data()
    expect(await found('search: "wool a ti"')).toEqual([post.id])
    for (const tag of ['Wool', 'wool', 'wOOL', 'größe']) expect(await found(`tag: "${tag}"`), tag).toEqual([post.id])
    expect(await found('tag: "wool", status: DRAFT'), 'beside other filters').toEqual([post.id])
    expect(await found('tag: "woo"')).toEqual([])
    expect(await graph.rows('select tags from publishing.posts where id = $1', [post.id])).toEqual([{ tags: ['Wool', 'Größe'] }])
    ;(await update({ copy: 'Of cotton', title: null, tags: [] })).data()
    expect(await found('search: "wool"')).toEqual([])
    expect(await found('tag: "wool"')).toEqual([])
  })
})
