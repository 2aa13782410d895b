import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { inboxRetention } from '../../platform/jobs/facts/inbox.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { type RetentionRule, retention } from '../../platform/jobs/retention.ts'
import { inTransaction } from '../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const day = 86_400_000

/** A table of its own with rows that are so many days old. */
async function tableOf(graph: Supergraph, name: string, ...ages: number[]): Promise<RetentionRule> {
  await graph.rows(`create table publishing.${name} (id integer primary key, at timestamptz not null, kept boolean not null default false)`)
  await graph.rows(
    `insert into publishing.${name} select n, $1::timestamptz - interval '1 day' * age from unnest($2::float8[]) with ordinality as ages (age, n)`,
    [graph.clock.now(), ages],
  )
  return { table: `publishing.${name}`, days: 10, old: 'o.at < $1 and not o.kept', order: 'o.at' }
}

const left = async (graph: Supergraph, { table }: RetentionRule) =>
  (await graph.rows<{ id: number }>(`select id from ${table} order by id`)).map(({ id }) => id)

test('a round removes the rows of every table that are older than their days, and no others', async () => {
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

test('a locked row is left to a later round, and delays none', async () => {
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

test('old rows are searched for every five minutes', () => {
  expect(retention({} as Parameters<typeof retention>[0], [])).toMatchObject({ name: 'what is old', everyMs: 300_000 })
})

const hour = day / 24

/** For how many days each subgraph keeps what all of them have alike; null: for ever. */
const keptDays: Readonly<Record<string, Readonly<Record<string, number | null>>>> = {
  agents: { audit_entries: 400, idempotency_keys: 7, inbox: 30 },
  identity: { audit_entries: 400, idempotency_keys: 7, facts: 30 },
  launcher: { audit_entries: 400, idempotency_keys: 7, inbox: 30 },
  payments: { audit_entries: null, idempotency_keys: 30, facts: 30, inbox: 30 },
  providers: { audit_entries: 400, idempotency_keys: 7, inbox: 30 },
  publishing: { audit_entries: 400, idempotency_keys: 7, facts: 30, inbox: 30 },
}
const keptTables = Object.entries(keptDays).flatMap(([slug, tables]) =>
  Object.entries(tables).map(([name, days]) => ({ name, days, table: `${slug}.${name}` })),
)

/** A row of each table whose age counts from `$1`. */
const rowOf: Readonly<Record<string, string>> = {
  audit_entries: `(tenant_id, id, at, actor, action, subject_id) values (gen_random_uuid(), gen_random_uuid(), $1, 'test', 'test.done', gen_random_uuid())`,
  idempotency_keys: `(tenant_id, caller, what, key, hash, made_id, at) values (gen_random_uuid(), 'test', 'test', gen_random_uuid(), 'hash', gen_random_uuid(), $1)`,
  facts: `(receiver, id, kind, subject, body, at, delivered_at) values ('launcher', gen_random_uuid(), 'test', 'test', '{}', $1, $1)`,
  inbox: `(writer, fact_id, kind, subject, told_at, at) values ('test', gen_random_uuid(), 'test', 'test', $1, $1)`,
}

/** How many hours old the rows of a table are. */
const agesOf = async (graph: Supergraph, { table, name }: (typeof keptTables)[number]) => {
  const at = name === 'facts' ? 'delivered_at' : 'at'
  return (await graph.rows<{ at: Date }>(`select ${at} as at from ${table} order by ${at}`)).map(row => (graph.clock.now().getTime() - row.at.getTime()) / hour)
}

test('every subgraph removes old audit entries, keys and facts by an index, and nothing else', async () => {
  await using graph = await supergraph()
  await graph.platform.identity.start()
  const everyMs = 300_000
  for (const { table, name, days } of keptTables) {
    await graph.rows(`delete from ${table}`)
    for (const hours of [-1, 1]) await graph.rows(`insert into ${table} ${rowOf[name]}`, [graph.clock.in(everyMs - (days ?? 4_000) * day + hours * hour)])
  }
  const removals = await graph.statements(async () => {
    await graph.clock.run(everyMs)
    for (const each of keptTables) {
      const ages = [...(each.days === null ? [4_000 * 24 + 1] : []), (each.days ?? 4_000) * 24 - 1]
      await expect.poll(() => agesOf(graph, each), { message: each.table }).toEqual(ages)
    }
  })
  const searches = new Map(
    removals
      .map(text => /^delete from (\S+) where ctid = any\(array\(\s*(select .*)\)\)$/s.exec(text))
      .flatMap(found => (found ? [[found[1]!, found[2]!]] : [])),
  )
  expect([...searches.keys()]).toEqual(expect.arrayContaining(keptTables.filter(({ days }) => days !== null).map(({ table }) => table)))
  for (const [table, search] of searches) {
    const plan = await inTransaction(graph.job, async ({ transaction }) => {
      // With next to no rows any plan would do: what is asked is whether the index serves.
      await graph.database.sequelize.query('set local enable_seqscan = off; set local enable_bitmapscan = off', { transaction })
      const [lines] = await graph.database.sequelize.query(`explain ${search}`, { bind: [graph.clock.now(), 1_000], transaction })
      return (lines as { 'QUERY PLAN': string }[]).map(line => line['QUERY PLAN']).join('\n')
    })
    expect(plan, table).not.toMatch(/Sort|Seq Scan on \S+ o\b/)
  }
})

test('receipts are kept as long as their fact is accepted, with clocks that differ either way', async () => {
  await using graph = await supergraph()
  const days = [
    [31, 29],
    [29, 31],
    [31, 31],
  ] as const
  for (const [told, received] of days)
    await graph.rows(`insert into agents.inbox (writer, fact_id, kind, subject, told_at, at) values ('test', gen_random_uuid(), 'test', $1, $2, $3)`, [
      `told ${told}, received ${received}`,
      graph.clock.in(-told * day),
      graph.clock.in(-received * day),
    ])
  await retention({ sequelize: graph.database.sequelize, clock: graph.clock }, [inboxRetention('agents')]).run()
  expect(await graph.rows('select subject from agents.inbox order by told_at')).toEqual([
    { subject: 'told 31, received 29' },
    { subject: 'told 29, received 31' },
  ])
})

test('a runner without queues sweeps, reports when it does not, opens no connection, and ends', async () => {
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
  }, 10_000)
  await jobs.stop()
  expect([opened, await graph.rows(`select nspname from pg_namespace where nspname = 'alone_jobs'`)]).toEqual([[], []])
})
