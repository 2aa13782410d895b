import DataLoader from 'dataloader'
import type { PgBoss } from 'pg-boss'

type Database = ReturnType<PgBoss['getDb']>

/** Our own queries on pg-boss's table, with our own indexes: pg-boss has none for keys and due times. */
export interface QueueTable {
  /**
   * Returns the ms until the next job of a queue is due by the database's clock, at most 0 when one is; null when none
   * waits. Queries of the same moment are combined.
   */
  msUntilDue(queue: string): Promise<number | null>
}

/**
 * Creates the queues of a schema, or updates their settings, with the indexes for keys and due times.
 * @param settings of every queue; changes apply to jobs that are sent from now on
 */
export async function openQueues(boss: PgBoss, schema: string, queues: readonly string[], settings: object): Promise<QueueTable> {
  const db = boss.getDb()
  const tables = new Map<string, string>()
  for (const queue of queues) {
    await boss.createQueue(queue, { ...settings, policy: 'short' })
    await boss.updateQueue(queue, settings)
    const { table, policy } = (await boss.getQueue(queue))!
    tables.set(queue, `${schema}.${table}`)
    if (policy !== 'short') await limitToOneJobForEachKey(db, schema, queue)
  }
  for (const table of new Set(tables.values())) await indexWaiting(db, table)
  const dueTimes = new DataLoader<string, number | null>(asked => msUntilDue(db, schema, tables, asked), { cache: false })
  return { msUntilDue: queue => dueTimes.load(queue) }
}

/**
 * Creates an index on the waiting jobs of a table; processes take turns, because two that create the same index at once
 * would fail.
 */
async function indexWaiting(db: Database, table: string): Promise<void> {
  await db.executeSql(
    `select pg_advisory_xact_lock(hashtextextended('${table}', 0));
     create index if not exists waiting_by_key on ${table} (name, singleton_key) where state < 'active';
     create index if not exists waiting_by_time on ${table} (name, start_after) where state < 'active'`,
  )
}

/** Returns `msUntilDue` for each queue, with one statement for each table; nearly always there is one table. */
async function msUntilDue(db: Database, schema: string, tables: ReadonlyMap<string, string>, queues: readonly string[]): Promise<(number | null)[]> {
  const found = new Map<string, number | null>()
  for (const table of new Set(queues.map(queue => tables.get(queue)))) {
    const { rows } = await db.executeSql(
      `select q.name, (extract(epoch from (select min(start_after) from ${table} where name = q.name and state < 'active') - ${schema}.job_now()) * 1000)::float8 as ms
         from unnest($1::text[]) q(name)`,
      [queues.filter(queue => tables.get(queue) === table)],
    )
    for (const { name, ms } of rows as { name: string; ms: number | null }[]) found.set(name, ms)
  }
  return queues.map(queue => found.get(queue) ?? null)
}

/** States of jobs that have not succeeded: waiting, running, waiting for a retry, or failed a short while ago. */
export const jobStates = ['created', 'active', 'retry', 'failed'] as const
export type JobState = (typeof jobStates)[number]

/** Counts the jobs of queues by state, including zeros. */
export async function countJobs(db: Pick<Database, 'executeSql'>, schema: string, queues: readonly string[]) {
  const { rows } = await db.executeSql(
    `select name, state::text, count(*)::int as jobs from ${schema}.job where name = any($1) and state::text = any($2) group by 1, 2`,
    [queues, jobStates],
  )
  const found = rows as { name: string; state: string; jobs: number }[]
  return queues.flatMap(queue => jobStates.map(state => ({ queue, state, jobs: found.find(row => row.name === queue && row.state === state)?.jobs ?? 0 })))
}

/**
 * Gives waiting jobs without a key one each: a queue of an earlier version let any number of jobs without a key wait.
 */
async function limitToOneJobForEachKey(db: Database, schema: string, queue: string): Promise<void> {
  await db.executeSql(`update ${schema}.job set policy = 'short', singleton_key = coalesce(singleton_key, id::text) where name = $1`, [queue])
  await db.executeSql(`update ${schema}.queue set policy = 'short' where name = $1`, [queue])
}
