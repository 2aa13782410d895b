import pg from 'pg'
import { daySumsSweep } from '../../subgraphs/publishing/insight/analytics/sum-up.ts'
import { type AskedStatement, metBy, type Plan, planOf, rowsMet, statementsOf, waysOf } from '../../test/kit/plans.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { countsOf, listsOf, sweepsOf } from '../../test/subgraphs/publishing/tables/lists.ts'
import { fill, type Size } from '../../test/subgraphs/publishing/tables/rows.ts'
import { percentile } from '../load/load.ts'

/** How long a statement of a list may take, in ms. */
const mostMs = 10
/** How many rows a table may have that is read from end to end. */
const fewRows = 5_000

type Work = () => Promise<unknown>

/**
 * Every list, count and sweep of publishing on so many rows: what each of its statements takes, and by which way it goes. A line for the
 * longest statement of each.
 * @param runs  how often each statement is measured
 * @param plans whether plans of what takes too long are written to standard error
 */
export async function measureLists({
  size,
  runs,
  only = /./,
  plans,
}: {
  readonly size: Size
  readonly runs: number
  readonly only: RegExp | undefined
  readonly plans: boolean
}): Promise<string> {
  await using graph = await supergraph()
  const [several, one] = [await graph.seed.owner(), await graph.seed.owner()]
  const now = graph.clock.now()
  const begin = performance.now()
  await fill(graph.database.url, { now, owners: [several.organization.id, one.organization.id], size })
  await Promise.all([daySumsSweep(() => graph.job).run(), graph.job.rareParts.learn()])
  const filled = ((performance.now() - begin) / 1000).toFixed(0)
  const [{ posts }] = (await graph.rows<{ posts: number }>('select count(*)::int as posts from publishing.posts')) as [{ posts: number }]
  const brandOf = async (organizationId: string) =>
    (await graph.rows<{ id: string }>('select id from publishing.brands where organization_id = $1 order by name limit 1', [organizationId]))[0]!.id

  const worlds = [
    { name: `${size.brands} brands`, as: several.owner, brandId: await brandOf(several.organization.id) },
    { name: 'one brand', as: one.owner, brandId: await brandOf(one.organization.id) },
  ]
  const works = new Map<string, Work>()
  for (const world of worlds)
    for (const [what, document] of Object.entries({ ...(await listsOf(graph, world, 50)), ...countsOf(world, now) }))
      works.set(`${world.name}: ${what}`, async () => (await graph.execute(document, {}, { as: world.as })).data())
  for (const [what, work] of Object.entries(sweepsOf(graph, worlds[1]!))) works.set(`sweep: ${what}`, work)

  const client = new pg.Client({ connectionString: graph.database.url })
  await client.connect()
  const lines: string[] = []
  const late: string[] = []
  for (const [what, work] of works) {
    if (!only.test(what)) continue
    const asked = await statementsOf(work, /^\s*\(?(select|with|update|delete).*publishing\./is)
    let longest: { least: number; p50: number; p99: number; plan: Plan } | undefined
    for (const statement of asked) {
      const measured = await timed(client, statement, runs)
      if (!longest || measured.p50 > longest.p50) longest = measured
    }
    if (!longest) throw new Error(`${what} asked the database nothing`)
    const { least, p50, p99, plan } = longest
    const isLate = p50 > mostMs || plan.nodes.some(node => node['Node Type'] === 'Seq Scan' && metBy(node) > fewRows)
    if (isLate) late.push(`${what}\n${plan.sql}\n${waysOf(plan)}`)
    lines.push(
      `| ${isLate ? `**${what}**` : what} | ${asked.length} | ${least.toFixed(2)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${rowsMet(plan).toFixed(0)} | ${blocksOf(plan)} | ${indexesOf(plan)} |`,
    )
  }
  await client.end()
  if (plans) console.error(late.join('\n\n'))
  return `${posts.toLocaleString('en')} posts, written in ${filled} s; ${runs} runs of each statement; the longest statement of each operation.

| | statements | least ms | p50 ms | p99 ms | rows met | blocks | by |
| --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}`
}

/** What a statement takes, answer included, as its connection keeps it; what it writes is undone. */
async function timed(client: pg.Client, statement: AskedStatement, runs: number) {
  const { name, text, values } = statement
  const times: number[] = []
  for (let run = -2; run < runs; run++) {
    await client.query('begin')
    const begin = performance.now()
    await client.query({ ...(name && { name }), text, values: [...values] })
    if (run >= 0) times.push(performance.now() - begin)
    await client.query('rollback')
  }
  await client.query('begin')
  const plan = await planOf(client, statement)
  await client.query('rollback')
  const sorted = Float64Array.from(times).sort()
  return { least: sorted[0]!, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), plan }
}

const blocksOf = ({ nodes: [last] }: Plan): number => (last?.['Shared Hit Blocks'] ?? 0) + (last?.['Shared Read Blocks'] ?? 0)

/** The indexes and tables by which a statement goes. */
const indexesOf = ({ nodes }: Plan): string =>
  [...new Set(nodes.flatMap(node => node['Index Name'] ?? (node['Node Type'] === 'Seq Scan' ? `all of ${node['Relation Name']}` : [])))].join(', ')
