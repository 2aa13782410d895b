import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { inboxAging } from '../../platform/jobs/facts/inbox.ts'
import { outboxAging } from '../../platform/jobs/facts/outbox.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { type Aging, retention } from '../../platform/jobs/retention.ts'
import { agingOf as agingOfIdentity } from '../../subgraphs/identity/retention.ts'
import { aging as agingOfLauncher } from '../../subgraphs/launcher/retention.ts'
import { agingOf as agingOfPublishing } from '../../subgraphs/publishing/delivery/retention.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const day = 86_400_000

/** A table of its own with rows that are so many days old. */
async function tableOf(graph: Supergraph, name: string, ...ages: number[]): Promise<Aging> {
  await graph.rows(`create table publishing.${name} (id integer primary key, at timestamptz not null, kept boolean not null default false)`)
  await graph.rows(
    `insert into publishing.${name} select n, $1::timestamptz - interval '1 day' * age from unnest($2::float8[]) with ordinality as ages (age, n)`,
    [graph.clock.now(), ages],
  )
  return { table: `publishing.${name}`, key: 'id', days: 10, old: 'o.at < $1 and not o.kept', order: 'o.at' }
}

const left = async (graph: Supergraph, { table }: Aging) => (await graph.rows<{ id: number }>(`select id from ${table} order by id`)).map(({ id }) => id)

test('a round removes the rows of every table that are older than its days, and no others', async () => {
  await using graph = await supergraph()
  const [one, other] = [await tableOf(graph, 'one', 9.9, 10, 10.1, 300), await tableOf(graph, 'other', 4.9, 5.1, 5.1)]
  await graph.rows('update publishing.other set kept = true where id = 2')
  const sweep = retention({ sequelize: graph.database.sequelize, clock: graph.clock }, [one, { ...other, days: 5 }])
  await sweep.run()
  expect([await left(graph, one), await left(graph, other)]).toEqual([
    [1, 2],
    [1, 2],
  ])
  await graph.clock.advance(day)
  await sweep.run()
  expect([await left(graph, one), await left(graph, other)]).toEqual([[], [2]])
})

test('a round removes five thousand rows of a table, the oldest first', async () => {
  await using graph = await supergraph()
  const table = await tableOf(graph, 'many', ...Array.from({ length: 5_003 }, (_, n) => 20 + n))
  const sweep = retention({ sequelize: graph.database.sequelize, clock: graph.clock }, [table])
  await sweep.run()
  expect(await left(graph, table)).toEqual([1, 2, 3])
  await sweep.run()
  expect(await left(graph, table)).toEqual([])
})

test('a row that somebody else holds is left to a later round, and holds up none', async () => {
  await using graph = await supergraph()
  const table = await tableOf(graph, 'held', 20, 20)
  const sweep = retention({ sequelize: graph.database.sequelize, clock: graph.clock }, [table])
  await inTransaction(graph.job, async ({ transaction }) => {
    await graph.database.sequelize.query('select from publishing.held where id = 1 for update', { transaction })
    await sweep.run()
  })
  expect(await left(graph, table)).toEqual([1])
  await sweep.run()
  expect(await left(graph, table)).toEqual([])
})

test('what is old is looked for every five minutes', () => {
  expect(retention({} as Parameters<typeof retention>[0], [])).toMatchObject({ name: 'what is old', everyMs: 300_000 })
})

const agings = [
  ...agingOfIdentity({ auditDays: 2 }),
  ...agingOfPublishing({ auditDays: 2, attemptDays: 8 }),
  ...agingOfLauncher,
  ...['identity', 'publishing'].map(outboxAging),
  ...['publishing', 'launcher'].map(inboxAging),
]

test('what is old is found by an index in every table of the platform', async () => {
  await using graph = await supergraph()
  for (const { table, old, order } of agings) {
    const plan = await inTransaction(graph.job, async ({ transaction }) => {
      // With next to no rows any plan would do: what is asked is whether the index serves.
      await graph.database.sequelize.query('set local enable_seqscan = off; set local enable_bitmapscan = off', { transaction })
      const bind = [graph.clock.now()]
      const [lines] = await graph.database.sequelize.query(`explain select from ${table} o where ${old} order by ${order} limit 1000`, { bind, transaction })
      return (lines as { 'QUERY PLAN': string }[]).map(line => line['QUERY PLAN']).join('\n')
    })
    expect(plan, table).not.toMatch(/Sort|Seq Scan on \S+ o\b/)
  }
})

test('a runner without queues goes round and tells when it does not, opens no connection, and ends', async () => {
  await using graph = await supergraph()
  const table = await tableOf(graph, 'alone', 20)
  const opened: string[] = []
  const openPool = createOpenPool({ url: graph.database.url, log: pino({ level: 'silent' }) })
  const jobs = createOpenJobs({
    openPool: options => openPool(options).on('connect', () => opened.push(options.name)),
    clock: graph.clock.jobs,
  })({ slug: 'alone', queues: [], sweeps: [retention({ sequelize: graph.database.sequelize, clock: graph.clock }, [table])], log: pino({ level: 'silent' }) })
  await expect(jobs.check()).rejects.toThrow('was not started')
  await jobs.start()
  await expect.poll(() => left(graph, table)).toEqual([])
  await jobs.check()
  await vi.waitFor(async () => {
    await graph.clock.advance(80_000)
    await expect(jobs.check()).rejects.toMatchObject({ name: 'NotReady', message: expect.stringMatching(/^what is old last went round \d+ s ago$/) })
  })
  await jobs.stop()
  expect([opened, await graph.rows(`select nspname from pg_namespace where nspname = 'alone_jobs'`)]).toEqual([[], []])
})
