import { join } from 'node:path'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { pino } from 'pino'
import { bookkeepingSchema, migrate } from '../../../db/migrate.ts'

/** The migrated database that every test database is a copy of. */
export const templateName = 'template_of_tests'

/** Where the workers read the address of the run's server. */
export const serverVariable = 'SUPERGRAPH_TEST_POSTGRES'

/** Where the workers read which tables of the template have rows: a test that empties its database leaves those as they are. */
export const filledVariable = 'SUPERGRAPH_TEST_FILLED'

const migrations = join(import.meta.dirname, '..', '..', '..', 'db', 'migrations')

/** Schemas that pg-boss makes by itself: once here, not once in every test. `test/db/kit.test.ts` tells which is missing. */
const jobSchemas = ['identity_jobs', 'providers_jobs', 'publishing_jobs']

/** The run's server. @throws when the test was not started by vitest's configuration */
export function serverUrl(): string {
  const url = process.env[serverVariable]
  if (!url) throw new Error('no PostgreSQL of a test run: start the tests with `npm test` or `npx vitest run <file>`')
  return url
}

/** The same server, another database. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Runs one statement on the server's own database, where databases are made and dropped. */
export async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Lets connections of tests prove the superuser's password with little work: they are many, and each would cost both sides some ms. */
export function easeSignIn(server: string): Promise<void> {
  const { username, password } = new URL(server)
  return administer(server, `set scram_iterations = 1; alter role ${pg.escapeIdentifier(username)} password ${pg.escapeLiteral(decodeURIComponent(password))}`)
}

/** Rows of tables as `schema.name`; a partition is emptied through its parent, and of pg-boss only the jobs are data. */
export const tables = `
  select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition
    and left(n.nspname, 3) <> 'pg_' and n.nspname not in ('information_schema', '${bookkeepingSchema}')
    and (right(n.nspname, 5) <> '_jobs' or c.relname in ('job', 'job_dependency'))`

/** Makes the template: our migrations of every subgraph, then pg-boss's. @returns its tables that have rows, as `schema.name` */
export async function makeTemplate(server: string): Promise<readonly string[]> {
  await administer(server, `create database ${templateName}`)
  const url = databaseUrl(server, templateName)
  await migrate({ url, directory: migrations, log: pino({ level: 'silent' }) })
  for (const schema of jobSchemas) {
    const boss = new PgBoss({ connectionString: url, schema, max: 1, supervise: false, schedule: false })
    boss.on('error', () => {})
    await boss.start()
    await boss.stop({ graceful: false })
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(tables)
    const asked = rows.map(({ name }) => `select ${pg.escapeLiteral(name)} as name where exists (select from ${name})`)
    return (await client.query<{ name: string }>(asked.join(' union all '))).rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}
