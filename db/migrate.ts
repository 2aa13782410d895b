import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Logger } from 'pino'
import { lineOf, StartError, systemCodeOf } from '../start-error.ts'

/** One immutable step of a subgraph's SQL schema. */
interface Migration {
  readonly slug: string
  /** `0001_posts.sql` */
  readonly file: string
  readonly sql: string
  readonly checksum: string
  /** Whether older programs continue to work after the migration, as its first line declares. */
  readonly compatible: boolean
}

const compatibleLine = /^-- compatible: ./

/** The SQL schema of the migrator's own tables. */
export const bookkeepingSchema = 'migrations'

// Migration tables of an earlier version have no column `compatible`.
const booksSql = `select slug, file, checksum, coalesce((to_jsonb(a) ->> 'compatible')::boolean, false) as compatible from ${bookkeepingSchema}.applied a order by slug, file`

const lockTimeoutMs = 120_000
/** The advisory lock under which one process migrates a database. */
export const lockKey = 4_836_529_117

const prepareBooks = `
  create schema if not exists ${bookkeepingSchema};
  create table if not exists ${bookkeepingSchema}.applied (
    slug text not null,
    file text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (slug, file)
  );
  alter table ${bookkeepingSchema}.applied add column if not exists compatible boolean not null default false`

/**
 * Migrates the SQL schemas of the subgraphs to the files in `<directory>/<slug>/NNNN_name.sql`.
 * Every file runs once, in its own transaction; unqualified names refer to the subgraph's schema, which is named like
 * its slug and created if missing. Several processes may call this at once: one migrates, the others wait up to 120 s.
 * @param slugs subgraphs @default every folder of the directory
 * @returns the applied files, e.g. `['publishing/0001_posts.sql']`
 * @throws StartError when an applied file was changed or is missing on disk, when a file comes too late, or when its
 * SQL fails
 */
export async function migrate(
  options: { directory: string; slugs?: readonly string[]; log: Logger } & ({ url: string } | { client: pg.ClientBase }),
): Promise<string[]> {
  const slugs = options.slugs ?? foldersOf(options.directory)
  const covers = (slug: string) => options.slugs === undefined || options.slugs.includes(slug)
  const migrations = slugs.flatMap(slug => readMigrations(options.directory, slug))
  if ('client' in options) return apply(options.client, covers, migrations, options.log)
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 10_000 })
  client.on('error', error => options.log.warn({ reason: lineOf(error) }, 'connection for migrations lost'))
  try {
    await client.connect()
    return await apply(client, covers, migrations, options.log)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Creates a check that the database has this program's migrations; the files are read once, now. Newer migrations that
 * are declared compatible are allowed.
 * @returns a check that rejects with `StartError`, which names missing or foreign migrations
 */
export function migrationCheck(directory: string): (read: <Row extends object>(sql: string) => Promise<Row[]>) => Promise<void> {
  const migrations = foldersOf(directory).flatMap(slug => readMigrations(directory, slug))
  return async read => {
    const due = pending(migrations, () => true, await read<Applied>(booksSql))
    if (due.length > 0) throw new StartError(`not applied yet: ${due.map(nameOf).join(', ')}`)
  }
}

/** Record of an applied migration, as backups contain it. */
export type Book = Pick<Applied, 'slug' | 'file' | 'checksum'>

/** Returns the applied migrations of a database, in the order in which they may run; none for a new one. */
export const booksOf = async (client: pg.ClientBase): Promise<Book[]> => (await readBooks(client)).map(({ slug, file, checksum }) => ({ slug, file, checksum }))

/**
 * Applies exactly these recorded migrations to an empty database, within the caller's transaction, and holds the
 * migrators' lock until its end. The migrator's own tables are created empty: the caller fills them.
 * @throws StartError when one of them is missing on disk, or differs there
 */
export async function replay(client: pg.ClientBase, directory: string, books: readonly Book[]): Promise<void> {
  const files = new Map([...new Set(books.map(({ slug }) => slug))].flatMap(slug => readMigrations(directory, slug)).map(file => [nameOf(file), file]))
  for (const book of books) requireSame(files.get(nameOf(book)), book)
  await client.query(prepareBooks)
  for (const book of books) {
    await client.query(`create schema if not exists ${book.slug}; set local search_path to ${book.slug}`)
    await client.query(files.get(nameOf(book))!.sql)
  }
}

function requireSame(file: Migration | undefined, book: Book): asserts file is Migration {
  if (!file)
    throw new StartError(`migration ${nameOf(book)} is not part of this version: take the version that made the backup, or a newer one`, undefined, 'schema')
  if (file.checksum !== book.checksum)
    throw new StartError(`migration ${nameOf(book)} is another one in this version: take the version that made the backup`, undefined, 'schema')
}

async function apply(client: pg.ClientBase, covers: (slug: string) => boolean, migrations: readonly Migration[], log: Logger): Promise<string[]> {
  if (pending(migrations, covers, await readBooks(client)).length === 0) return []
  await lock(client)
  try {
    await client.query(prepareBooks)
    // Read again: another process may have done the work while this one waited.
    const due = pending(migrations, covers, await readBooks(client))
    for (const migration of due) {
      const began = performance.now()
      await run(client, migration)
      log.info({ migration: nameOf(migration), ms: Math.round(performance.now() - began) }, 'migration applied')
    }
    return due.map(nameOf)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockKey]).catch(() => {})
  }
}

async function lock(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(`set lock_timeout = ${lockTimeoutMs}`)
    await client.query('select pg_advisory_lock($1)', [lockKey])
  } catch (error) {
    if (systemCodeOf(error) !== '55P03') throw error
    throw new StartError(`another process has been migrating this database for ${lockTimeoutMs / 1000} seconds: wait for it, or end it`, error)
  } finally {
    await client.query('reset lock_timeout')
  }
}

interface Applied {
  readonly slug: string
  readonly file: string
  readonly checksum: string
  readonly compatible: boolean
}

async function readBooks(client: pg.ClientBase): Promise<Applied[]> {
  try {
    return (await client.query<Applied>(booksSql)).rows
  } catch (error) {
    // Neither table nor schema exists: a new database.
    if (['42P01', '3F000'].includes(systemCodeOf(error))) return []
    throw error
  }
}

/** Returns the migrations to apply, after the applied ones were compared with the files. */
function pending(migrations: readonly Migration[], covers: (slug: string) => boolean, applied: readonly Applied[]): Migration[] {
  const onDisk = new Map(migrations.map(migration => [nameOf(migration), migration]))
  const last = new Map<string, string>()
  const done = new Set<string>()
  for (const entry of applied) {
    if (!covers(entry.slug)) continue
    const name = nameOf(entry)
    const file = onDisk.get(name)
    if (!file && entry.compatible) continue
    if (!file)
      throw new StartError(
        `the database holds migration ${name}, which this version does not know: start the version that made it, or a newer one`,
        undefined,
        'schema',
      )
    if (file.checksum !== entry.checksum)
      throw new StartError(`migration ${name} was changed after it was applied: restore it, and write the change into a new file`, undefined, 'schema')
    done.add(name)
    last.set(entry.slug, entry.file)
  }
  const due = migrations.filter(migration => !done.has(nameOf(migration)))
  for (const { slug, file } of due) {
    const latest = last.get(slug)
    if (latest && file < latest)
      throw new StartError(`migration ${slug}/${file} comes before ${latest}, which is applied already: give it the next number`, undefined, 'schema')
  }
  return due
}

async function run(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { slug, file, sql, checksum, compatible } = migration
  try {
    await client.query('begin')
    await client.query(`create schema if not exists ${slug}; set local search_path to ${slug}`)
    await client.query(sql)
    await client.query(`insert into ${bookkeepingSchema}.applied (slug, file, checksum, compatible) values ($1, $2, $3, $4)`, [
      slug,
      file,
      checksum,
      compatible,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    const position = Number((error as { position?: string }).position)
    const line = position > 0 ? ` (line ${sql.slice(0, position).split('\n').length})` : ''
    // Missing rights, read-only, disk full or timeout: the migration file is not at fault.
    if (/^(42501|3F000|25006|53...|55P03|57...|08...)$/.test(systemCodeOf(error))) throw error
    // The object exists already: another program's database, or one migrated by hand.
    const foreign = ['42P07', '42701', '42710', '42P06'].includes(systemCodeOf(error))
    const remedy = foreign ? ': the database is not empty; use one of its own' : ''
    throw new StartError(`migration ${nameOf(migration)} fails: ${lineOf(error)}${line}${remedy}`, error, foreign ? 'schema' : null)
  }
}

/**
 * Reads the names and texts of all migrations in a folder. @throws StartError for a name without a number, and for a
 * duplicate number
 */
export function checkMigrations(directory: string): void {
  for (const slug of foldersOf(directory)) readMigrations(directory, slug)
}

const nameOf = ({ slug, file }: { slug: string; file: string }) => `${slug}/${file}`

const foldersOf = (directory: string) => listing(directory).filter(name => statSync(join(directory, name)).isDirectory())

function readMigrations(directory: string, slug: string): Migration[] {
  if (!/^[a-z][a-z0-9_]*$/.test(slug)) throw new StartError(`folder ${join(directory, slug)} cannot name an SQL schema: use lower-case letters, digits and _`)
  const files = listing(join(directory, slug)).filter(name => name.endsWith('.sql'))
  return files.map((file, at) => {
    const number = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]
    if (!number) throw new StartError(`migration ${slug}/${file} has no valid name: write it as 0001_name.sql`)
    if (files[at - 1]?.startsWith(number))
      throw new StartError(`migrations ${slug}/${files[at - 1]} and ${slug}/${file} have the same number: give one the next`)
    // A checkout on Windows may have changed the line ends; that is not a change of the migration.
    const sql = readFileSync(join(directory, slug, file), 'utf8').replaceAll('\r\n', '\n')
    return { slug, file, sql, checksum: createHash('sha256').update(sql).digest('hex'), compatible: compatibleLine.test(sql) }
  })
}

function listing(path: string): string[] {
  try {
    return readdirSync(path).sort()
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return []
    throw error
  }
}
