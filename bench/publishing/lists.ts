import { daySumsSweep } from '../../subgraphs/publishing/insight/analytics/sum-up.ts'
import { supergraph } from '../../test/kit/supergraph.ts'
import { countsOf, listsOf, sweepsOf } from '../../test/subgraphs/publishing/tables/lists.ts'
import { fill, type Size } from '../../test/subgraphs/publishing/tables/rows.ts'
import { measureStatements, type Work } from '../load/statements.ts'

/** Maximum ms of a list's statement. */
const mostMs = 10
/**
 * Measures every list, count and sweep of publishing on a number of rows: duration and indexes of each statement, with
 * a line for the slowest of each.
 * @param runs  number of measurements of each statement
 * @param plans whether plans of slow statements are written to standard error
 */
export async function measureLists({
  size,
  runs,
  only,
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

  const pattern = /^\s*\(?(select|with|update|delete).*publishing\./is
  const { table, late } = await measureStatements({ url: graph.database.url, works, pattern, runs, only, mostMs: () => mostMs })
  if (plans) console.error(late.join('\n\n'))
  return `${posts.toLocaleString('en')} posts, written in ${filled} s; ${runs} runs of each statement; the longest statement of each operation.

${table}`
}
