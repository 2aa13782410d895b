import pg from 'pg'
import { type AskedStatement, metBy, type Plan, planOf, rowsMet, statementsOf, waysOf } from '../../test/kit/plans.ts'
import { percentile } from './load.ts'

/** Maximum rows of a table that may be scanned sequentially. */
const fewRows = 5_000

export type Work = () => Promise<unknown>

/** Which works are measured, on which database. */
export interface Measuring {
  readonly url: string
  readonly works: ReadonlyMap<string, Work>
  /** Statements of a work that count. */
  readonly pattern: RegExp
  /** Number of measurements of each statement. */
  readonly runs: number
  readonly only: RegExp | undefined
  /** Maximum ms of the longest statement of a work. */
  mostMs(what: string): number
}

/**
 * Measures the statements of works: duration and indexes, with a line of a Markdown table for the slowest statement of each.
 * @returns the table, and the plans of what takes too long or scans too much
 */
export async function measureStatements({ url, works, pattern, runs, only = /./, mostMs }: Measuring): Promise<{ table: string; late: readonly string[] }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const lines: string[] = []
  const late: string[] = []
  for (const [what, work] of works) {
    if (!only.test(what)) continue
    const asked = await statementsOf(work, pattern)
    let longest: { least: number; p50: number; p99: number; plan: Plan } | undefined
    for (const statement of asked) {
      const measured = await timed(client, statement, runs)
      if (!longest || measured.p50 > longest.p50) longest = measured
    }
    if (!longest) throw new Error(`${what} asked the database nothing`)
    const { least, p50, p99, plan } = longest
    const isLate = p50 > mostMs(what) || plan.nodes.some(node => node['Node Type'] === 'Seq Scan' && metBy(node) > fewRows)
    if (isLate) late.push(`${what}\n${plan.sql}\n${waysOf(plan)}`)
    lines.push(
      `| ${isLate ? `**${what}**` : what} | ${asked.length} | ${least.toFixed(2)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${rowsMet(plan).toFixed(0)} | ${blocksOf(plan)} | ${indexesOf(plan)} |`,
    )
  }
  await client.end()
  const table = `| | statements | least ms | p50 ms | p99 ms | rows met | blocks | by |
| --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}`
  return { table, late }
}

/** Measures a prepared statement with its answer; its writes are rolled back. */
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

/** Returns the indexes and tables that a statement uses. */
const indexesOf = ({ nodes }: Plan): string =>
  [...new Set(nodes.flatMap(node => node['Index Name'] ?? (node['Node Type'] === 'Seq Scan' ? `all of ${node['Relation Name']}` : [])))].join(', ')
