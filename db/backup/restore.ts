import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { crash } from '../../platform/crash.ts'
import { lineOf, StartError, systemCodeOf } from '../../start-error.ts'
import { probeTable } from '../health/write-probe.ts'
import { lockKey, replay } from '../migrate.ts'
import { writeDataFile } from './data-files.ts'
import { textForm } from './dump.ts'
import { type EndLine, endOfRows, type FileLine, type Header, linesOf, parsed, type SequenceLine, type TableLine } from './file.ts'

const anyTableSql = `
  select format('%I.%I', n.nspname, c.relname) as "table" from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_' order by 1 limit 1`

const foreignKeysSql = `
  select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(c.oid) as definition
  from pg_constraint c join pg_namespace n on n.oid = c.connamespace
  where contype = 'f' and conparentid = 0 and n.nspname !~ '^pg_' order by 1, 2`

const triggersSql = `
  select distinct tgrelid::regclass::text as "table" from pg_trigger t join pg_class c on c.oid = tgrelid join pg_namespace n on n.oid = c.relnamespace
  where not tgisinternal and n.nspname !~ '^pg_' order by 1`

export interface RestoreOptions {
  /** Address of an empty database. */
  readonly url: string
  /** A file that `checkBackup` has verified. */
  readonly path: string
  readonly header: Header
  /** Folder of the migrations. */
  readonly directory: string
  readonly dataDir: string
  /**
   * Statements that change the rows before the transaction is committed, in this order, each if the backup contains its
   * table. @default none
   */
  readonly then?: readonly AfterRestore[]
}

/** A statement that changes restored rows. */
export interface AfterRestore {
  readonly table: string
  readonly sql: string
  readonly bind: readonly unknown[]
}

/**
 * Restores a backup into an empty database in one transaction: completely, or not at all. This program's migrations
 * create the tables as of the backup; a start applies later ones.
 * Files of the data folder are written just before the commit: files without a database do no harm, and a repeated
 * restore accepts them.
 * @returns the names of these files, and the number of rows of each table that `then` has changed
 * @throws StartError when the database is not empty, or the migrations differ from those of the backup
 */
export async function restore({
  url,
  path,
  header,
  directory,
  dataDir,
  then = [],
}: RestoreOptions): Promise<{ files: readonly string[]; changed: ReadonlyMap<string, number> }> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'supergraph restore' })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(textForm)
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const { rows } = await client.query<{ table: string }>(anyTableSql)
    if (rows[0]) throw new StartError(`the database is not empty (it holds ${rows[0].table}): nothing was restored; name an empty one`)
    await replay(client, directory, header.migrations)
    const { files, tables } = await fill(client, path)
    const changed = new Map<string, number>()
    for (const { table, sql, bind } of then) if (tables.includes(table)) changed.set(table, (await client.query(sql, [...bind])).rowCount ?? 0)
    crash('backup-restored-not-committed')
    for (const file of files) writeDataFile(dataDir, file)
    crash('backup-files-written')
    await client.query('commit')
    // Collects statistics, so that the first queries have good plans.
    await client.query(`analyze ${tables.join(', ')}`).catch(() => {})
    return { files: files.map(({ file }) => file), changed }
  } catch (error) {
    const refused = /^[0-9A-Z]{5}$/.test(systemCodeOf(error))
    throw refused ? new StartError(`the database does not take the backup, nothing was restored: ${lineOf(error)}`, error) : error
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Copies the rows into tables without foreign keys, which are created, and so checked, after all rows. Triggers are
 * disabled, because the backup contains what they wrote.
 */
async function fill(client: pg.Client, path: string): Promise<{ readonly files: readonly FileLine[]; readonly tables: readonly string[] }> {
  const foreignKeys = (await client.query<{ table: string; name: string; definition: string }>(foreignKeysSql)).rows
  for (const { table, name } of foreignKeys) await client.query(`alter table ${table} drop constraint ${name}`)
  const triggered = (await client.query<{ table: string }>(triggersSql)).rows
  for (const { table } of triggered) await client.query(`alter table ${table} disable trigger user`)
  const tables: string[] = []
  const files: FileLine[] = []
  const lines = linesOf(path)
  // The header was read before, so it is skipped.
  await lines.next()
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const found = parsed<TableLine | SequenceLine | FileLine | EndLine>(next.value)!
    if ('table' in found && found.table === probeTable) {
      // Older backups contain the table that readiness checks write.
      for await (const _row of rowsOf(lines));
    } else if ('table' in found) {
      // Migrations may have written rows of their own.
      await client.query(`delete from ${found.table}`)
      await pipeline(rowsOf(lines), client.query(copyFrom(`copy ${found.table} (${found.columns.join(', ')}) from stdin`)))
      tables.push(found.table)
    } else if ('sequence' in found && found.last !== null) await client.query('select setval($1, $2)', [found.sequence, found.last])
    else if ('file' in found) files.push(found)
  }
  for (const { table } of triggered) await client.query(`alter table ${table} enable trigger user`)
  for (const { table, name, definition } of foreignKeys) await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  return { files, tables }
}

/** Yields the rows of one table, and leaves later lines unread. */
async function* rowsOf(lines: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await lines.next(); !next.done && !isEnd(next.value); next = await lines.next()) yield next.value
}

const isEnd = (text: Buffer): boolean => text.length === endOfRows.length && text.toString() === endOfRows
