import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { lineOf, StartError, systemCodeOf } from '../../start-error.ts'
import { probeTable } from '../health/write-probe.ts'
import { bookkeepingSchema, booksOf, lockKey } from '../migrate.ts'
import { type DataFile, readDataFiles } from './data-files.ts'
import { endOfRows, headerOf, line, type SequenceLine, type TableLine } from './file.ts'

/**
 * Session settings for a text format that every PostgreSQL reads, whatever the settings of this server; without a time
 * limit.
 */
export const textForm = `
  set datestyle to iso; set intervalstyle to postgres; set timezone to utc; set extra_float_digits to 3; set bytea_output to hex;
  set client_encoding to utf8; set statement_timeout to 0; set lock_timeout to 0; set idle_in_transaction_session_timeout to 0`

// A partitioned table's rows are read from its partitions; pg-boss's tables hold only wake-ups, which sweeps create again. The table
// written by readiness checks is skipped: reading it would wait for a lock that is held until the end.
const tablesSql = `
  select format('%I.%I', n.nspname, c.relname) as "table",
         array(select quote_ident(attname) from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname = any($1) and format('%I.%I', n.nspname, c.relname) <> $2 order by 1`

const sequencesSql = `
  select format('%I.%I', schemaname, sequencename) as sequence, last_value::text as last from pg_sequences where schemaname = any($1) order by 1`

/** The database, and the files of the data folder that belong to the backup. */
export interface DumpOptions {
  readonly url: string
  readonly version: string
  readonly now: Date
  /** @see readDataFiles */
  readonly files: readonly DataFile[]
  readonly dataDir: string
}

/**
 * Yields the lines of a backup: every row at one moment, while other sessions read and write. Migrations wait until the
 * tables are locked; no table is dropped or altered until the end.
 * @returns number of rows
 * @throws StartError when the database contains no platform
 */
export async function* dump({ url, version, now, files, dataDir }: DumpOptions): AsyncGenerator<Buffer | string, number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'supergraph backup' })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(textForm)
    await client.query(`set lock_timeout to '120s'; select pg_advisory_lock_shared(${lockKey}); set lock_timeout to 0`)
    await client.query('begin transaction isolation level repeatable read read only')
    const books = await booksOf(client)
    if (books.length === 0) throw new StartError('the database holds no platform: nothing was ever migrated there')
    const schemas = [bookkeepingSchema, ...new Set(books.map(({ slug }) => slug))]
    const tables = (await client.query<TableLine>(tablesSql, [schemas, probeTable])).rows
    await client.query(`lock table ${tables.map(({ table }) => table).join(', ')} in access share mode`)
    await client.query('select pg_advisory_unlock_shared($1)', [lockKey])
    yield line(headerOf({ version, madeAt: now.toISOString(), migrations: books }))
    let rows = 0
    for (const { table, columns } of tables) {
      yield line({ table, columns })
      const copy = client.query(copyTo(`copy ${table} (${columns.join(', ')}) to stdout`))
      yield* copy as AsyncIterable<Buffer>
      yield endOfRows
      rows += copy.rowCount ?? 0
    }
    // Sequences are not transactional; read after the rows, they are never behind them.
    for (const sequence of (await client.query<SequenceLine>(sequencesSql, [schemas])).rows) yield line(sequence)
    await client.query('commit')
    // After the rows, so that the sandbox knows every token that the rows have.
    for (const file of readDataFiles(dataDir, files)) yield line(file)
    return rows
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === '55P03') throw new StartError('the database is being migrated: wait for it, and back up then', error)
    // An error that the database itself reports.
    throw /^[0-9A-Z]{5}$/.test(code) ? new StartError(`the database cannot be backed up: ${lineOf(error)}`, error) : error
  } finally {
    await client.end().catch(() => {})
  }
}
