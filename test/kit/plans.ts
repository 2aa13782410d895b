import pg from 'pg'
import utils from 'pg/lib/utils.js'
import { Batch } from '../../platform/sql/batch.ts'

/** A statement as it was sent. */
export interface AskedStatement {
  /** Under which a connection keeps it parsed; undefined for one that is planned each time. */
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
}

/** A step of a plan, as PostgreSQL explains it in JSON. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

export interface Plan {
  readonly sql: string
  /** Every step, the last one first. */
  readonly nodes: readonly PlanNode[]
  /** How long it ran, in ms. */
  readonly milliseconds: number
}

/** Does the work and tells which of the statements that it sent match, with what they were told. */
export async function statementsOf(work: () => Promise<unknown>, matching: RegExp): Promise<AskedStatement[]> {
  const asked: AskedStatement[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  const tapped = function (this: unknown, ...parameters: unknown[]): unknown {
    const [first, values] = parameters as [string | Batch | { text?: string; values?: unknown[]; name?: string }, unknown[] | undefined]
    const sent: readonly AskedStatement[] =
      first instanceof Batch
        ? first.statements.map(({ name, text, values }) => ({ name, text, values }))
        : [{ name: undefined, text: typeof first === 'string' ? first : (first.text ?? ''), values: Array.isArray(values) ? values : [] }]
    for (const { name, text, values } of sent) if (matching.test(text)) asked.push({ name, text, values: [...values] })
    return Reflect.apply(query, this, parameters)
  }
  Reflect.set(prototype, 'query', tapped)
  try {
    await work()
  } finally {
    Reflect.set(prototype, 'query', query)
  }
  return asked
}

/** Has the database explain a statement as it really runs. Whoever explains one that writes does so in a transaction that is undone. */
export async function planOf(client: Pick<pg.Client, 'query'>, { text, values }: AskedStatement): Promise<Plan> {
  return explained(text, await client.query(`explain (${how}) ${text}`, [...values]))
}

/**
 * Has the database explain a statement as a connection runs it that has run it often: with a plan for any values, which knows none of them.
 * Whoever explains one that writes does so in a transaction that is undone.
 */
export async function keptPlanOf(client: Pick<pg.Client, 'query' | 'escapeLiteral'>, { text, values }: AskedStatement): Promise<Plan> {
  const literal = (value: unknown) => {
    const written = utils.prepareValue(value)
    if (written === null) return 'null'
    return client.escapeLiteral(typeof written === 'string' ? written : `\\x${written.toString('hex')}`)
  }
  await client.query(`set plan_cache_mode = force_generic_plan; prepare kept as ${text}`)
  try {
    const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
    return explained(text, await client.query(`explain (${how}) execute kept${given}`))
  } finally {
    await client.query('deallocate kept; reset plan_cache_mode')
  }
}

const how = 'analyze, buffers, timing off, format json'

function explained(sql: string, { rows }: pg.QueryResult): Plan {
  const [{ 'QUERY PLAN': plans }] = rows as [{ 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] }]
  return { sql, nodes: nodesOf(plans[0].Plan), milliseconds: plans[0]['Execution Time'] }
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How many rows its scans met, those that they left out included. */
export const rowsMet = ({ nodes }: Plan): number =>
  nodes.filter(node => node['Node Type'].endsWith('Scan') && node['Relation Name']).reduce((sum, node) => sum + metBy(node), 0)

/** How many rows a scan met. */
export const metBy = (node: PlanNode): number => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']

/** Its steps, a line each: by which index, how many rows how often, and how many were left out. */
export const waysOf = ({ nodes }: Plan): string =>
  nodes
    .map(node => {
      const [way, left] = [[node['Node Type'], node['Relation Name'], node['Index Name']].filter(Boolean).join(' '), node['Rows Removed by Filter'] ?? 0]
      return `${way}: ${node['Actual Rows']} × ${node['Actual Loops']}, ${left} left out`
    })
    .join('\n')
