import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { StartError } from '../../start-error.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { countStatements } from '../kit/statements.ts'

const log = pino({ level: 'silent' })
const posts = 'publishing/0001_posts.sql'
const brands = 'publishing/0002_brands.sql'

let database: TestDatabase
let directory: string
beforeEach(async () => {
  database = await createTestDatabase({ empty: true })
  directory = mkdtempSync(join(tmpdir(), 'migrate-test-'))
})
afterEach(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})

function write(name: string, sql: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true })
  writeFileSync(join(directory, name), sql)
}
const run = (slugs?: string[]) => migrate({ url: database.url, directory, log, ...(slugs && { slugs }) })
const select = async (sql: string) => (await database.sequelize.query(sql))[0]

test('files run once, in order, each in the schema of its subgraph', async () => {
  write(brands, 'alter table posts add column brand text;')
  write(posts, 'create table posts (id int);\ncreate index on posts (id);')
  write('identity/0001_users.sql', 'create table users (id int);')
  expect(await run()).toEqual(['identity/0001_users.sql', posts, brands])
  expect(await run()).toEqual([])
  expect(
    await select(`select table_schema || '.' || table_name as t from information_schema.tables where table_name in ('posts', 'users') order by 1`),
  ).toEqual([{ t: 'identity.users' }, { t: 'publishing.posts' }])
})

test('with nothing to do it runs one query and takes no lock', async () => {
  write(posts, 'create table posts (id int);')
  await run()
  const { statements } = await countStatements(run)
  expect(statements).toEqual([expect.stringMatching(/^select slug, file, checksum/)])
})

test('four at once: each succeeds, every file runs once', async () => {
  write(posts, 'create table posts (id int); select pg_sleep(0.1);')
  write(brands, 'create table brands (id int);')
  const applied = await Promise.all([run(), run(), run(), run()])
  expect(applied.flat().sort()).toEqual([posts, brands])
  expect(await select('select count(*)::int as n from migrations.applied')).toEqual([{ n: 2 }])
})

test('a file that was changed after it was applied is rejected; other line ends are no change', async () => {
  write(posts, 'create table posts (\n  id int\n);\n')
  await run()
  write(posts, 'create table posts (\r\n  id int\r\n);\r\n')
  expect(await run()).toEqual([])
  write(posts, 'create table posts (id bigint);\n')
  await expect(run()).rejects.toThrow(`migration ${posts} was changed after it was applied: restore it, and write the change into a new file`)
})

test('an older program rejects the schema of a newer one, an unknown subgraph included', async () => {
  write(posts, 'create table posts (id int);')
  write(brands, 'create table brands (id int);')
  write('agents/0001_agents.sql', 'create table agents (id int);')
  await run()
  rmSync(join(directory, 'agents'), { recursive: true })
  expect(await run(['publishing'])).toEqual([])
  await expect(run()).rejects.toThrow(/^the database holds migration agents\/0001_agents\.sql, which this version does not know/)
  rmSync(join(directory, brands))
  await expect(run(['publishing'])).rejects.toThrow(/^the database holds migration publishing\/0002_brands\.sql, which this version does not know/)
})

test('a failing file leaves nothing of itself, keeps those before it, and names its line', async () => {
  write(posts, 'create table posts (id int);')
  write(brands, 'create table brands (id int);\n\nalter table nowhere add column x int;\nselect oops;')
  await expect(run()).rejects.toThrow(new StartError(`migration ${brands} fails: relation "nowhere" does not exist`))
  expect(await select(`select to_regclass('publishing.posts') is not null as posts, to_regclass('publishing.brands') is not null as brands`)).toEqual([
    { posts: true, brands: false },
  ])
  write(brands, 'create table brands (id int);\nselct 1;')
  await expect(run()).rejects.toThrow(`migration ${brands} fails: syntax error at or near "selct" (line 2)`)
  write(brands, 'create table brands (id int);')
  expect(await run()).toEqual([brands])
})

test('a file with a number that is late, repeated, or missing is rejected', async () => {
  write(brands, 'create table brands (id int);')
  await run()
  write(posts, 'create table posts (id int);')
  await expect(run()).rejects.toThrow(`migration ${posts} comes before 0002_brands.sql, which is applied already: give it the next number`)
  rmSync(join(directory, posts))
  write('publishing/0002_other.sql', '')
  await expect(run()).rejects.toThrow('migrations publishing/0002_brands.sql and publishing/0002_other.sql have the same number: give one the next')
  rmSync(join(directory, 'publishing/0002_other.sql'))
  write('publishing/later.sql', '')
  await expect(run()).rejects.toThrow('migration publishing/later.sql has no valid name: write it as 0001_name.sql')
})

test('it works on a caller’s connection and returns it unchanged', async () => {
  write(posts, 'create table posts (id int);')
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    expect(await migrate({ client, directory, log })).toEqual([posts])
    const { rows } = await client.query(`select current_setting('search_path') as path, current_setting('lock_timeout') as wait,
      (select count(*)::int from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and d.datname = current_database()) as locks`)
    expect(rows).toEqual([{ path: '"$user", public', wait: '0', locks: 0 }])
  } finally {
    await client.end()
  }
})
