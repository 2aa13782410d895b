import DataLoader from 'dataloader'
import type { PgBoss } from 'pg-boss'

type Database = ReturnType<PgBoss['getDb']>

/** What we ask of pg-boss's table ourselves: by indexes of our own, because it finds neither keys nor due times by its. */
export interface QueueTable {
  /** Ms until the next job of a queue is due by the database's clock, at most 0 when one is; null when none waits. Queues that are looked at in the same moment are asked for together. */
  msUntilDue(queue: string): Promise<number | null>
}

/**
 * Makes the queues of a schema, or brings them to the present settings, with the indexes behind keys and due times.
 * @param settings of every queue; changed ones hold for jobs that are sent from now on
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

/** Indexes what waits in a table; one process after the other, for of two that make the same index at once one would fail. */
async function indexWaiting(db: Database, table: string): Promise<void> {
  await db.executeSql(
    `select pg_advisory_xact_lock(hashtextextended('${table}', 0));
     create index if not exists waiting_by_key on ${table} (name, singleton_key) where state < 'active';
     create index if not exists waiting_by_time on ${table} (name, start_after) where state < 'active'`,
  )
}

/** For each queue its `msUntilDue`: a statement a table, and nearly always there is one table. */
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

/** Where a job may stand that has not ended well: it waits, runs, waits to be tried again, or was given up a short while ago. */
export const jobStates = ['created', 'active', 'retry', 'failed'] as const
export type JobState = (typeof jobStates)[number]

/** Counts the jobs of queues by state; what there is none of is told, too. */
export async function countJobs(db: Pick<Database, 'executeSql'>, schema: string, queues: readonly string[]) {
  const { rows } = await db.executeSql(
    `select name, state::text, count(*)::int as jobs from ${schema}.job where name = any($1) and state::text = any($2) group by 1, 2`,
    [queues, jobStates],
  )
  const found = rows as { name: string; state: string; jobs: number }[]
  return queues.flatMap(queue => jobStates.map(state => ({ queue, state, jobs: found.find(row => row.name === queue && row.state === state)?.jobs ?? 0 })))
}

/** A queue of an earlier version let any number of jobs wait, most of them without a key: each gets one of its own. */
async function limitToOneJobForEachKey(db: Database, schema: string, queue: string): Promise<void> {
  await db.executeSql(`update ${schema}.job set policy = 'short', singleton_key = coalesce(singleton_key, id::text) where name = $1`, [queue])
  await db.executeSql(`update ${schema}.queue set policy = 'short' where name = $1`, [queue])
}
