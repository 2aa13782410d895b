import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { countStatements } from '../kit/statements.ts'
import { supergraph } from '../kit/supergraph.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.sequelize.query(`
    create schema story;
    create table story.reference (id int primary key);
    create table story.parent (id int primary key);
    create table story.child (id int primary key, parent_id int not null references story.parent)`)
})
beforeEach(() => database.reset())
afterAll(() => database.drop())

const count = async (table: string) => (await database.sequelize.query(`select count(*)::int as n from ${table}`))[0][0]

test('a test database holds the migrated schemas and the schema of the jobs', async () => {
  const [rows] = await database.sequelize.query(`select distinct slug from migrations.applied order by slug`)
  expect(rows).toContainEqual({ slug: 'identity' })
  expect(await count('publishing_jobs.version')).toEqual({ n: 1 })
})

test('a test database contains the schema of every subgraph’s jobs, so that no test creates one', async () => {
  const schemas = async (of: TestDatabase) =>
    (await of.sequelize.query(`select nspname as name from pg_namespace where right(nspname, 5) = '_jobs' order by 1`))[0]
  const before = await schemas(database)
  await using graph = await supergraph()
  expect(before, 'jobSchemas of test/kit/run/template.ts').toEqual(await schemas(graph.database))
})

test('reset empties tables in spite of foreign keys and keeps the record of migrations', async () => {
  await database.sequelize.query('insert into story.parent values (1); insert into story.child values (1, 1)')
  const books = await count('migrations.applied')
  await database.reset()
  expect(await count('story.parent')).toEqual({ n: 0 })
  expect(await count('story.child')).toEqual({ n: 0 })
  expect(await count('migrations.applied')).toEqual(books)
  await expect(database.sequelize.query('insert into story.child values (2, 7)')).rejects.toThrow(/foreign key/)
})

test('reset removes waiting jobs and keeps their queues', async () => {
  await database.sequelize.query(`select publishing_jobs.create_queue('story', '{"policy":"standard","partition":false}'::jsonb)`)
  await database.sequelize.query(`insert into publishing_jobs.job (name) values ('story')`)
  expect(await count('publishing_jobs.job')).toEqual({ n: 1 })
  await database.reset()
  expect(await count('publishing_jobs.job')).toEqual({ n: 0 })
  expect(await count(`publishing_jobs.queue where name = 'story'`)).toEqual({ n: 1 })
})

test('two test databases are independent, and a dropped one is gone', async () => {
  const other = await createTestDatabase({ empty: true })
  await other.sequelize.query('create table only_here ()')
  await expect(database.sequelize.query('select from only_here')).rejects.toThrow(/does not exist/)
  await other.drop()
  await other.drop()
  const [rows] = await database.sequelize.query(`select from pg_database where datname = '${new URL(other.url).pathname.slice(1)}'`)
  expect(rows).toEqual([])
})

test('statements are counted once each, through Sequelize, a transaction and a pool', async () => {
  const { result, statements } = await countStatements(async () => {
    await database.sequelize.transaction(transaction => database.sequelize.query('select 1 as a', { transaction }))
    return 'done'
  })
  expect(result).toBe('done')
  expect(statements).toEqual([expect.stringMatching(/^START TRANSACTION/), 'select 1 as a', 'COMMIT;'])

  const pool = createOpenPool({ url: database.url, log: pino({ level: 'silent' }) })({ use: 'jobs', name: 'test' })
  await pool.query('select 0')
  expect((await countStatements(() => pool.query('select $1::int', [2]))).statements).toEqual(['select $1::int'])
  expect((await countStatements(() => pool.query({ text: 'select 3' }), { ignore: /3/ })).statements).toEqual([])
  await pool.end()
})
