import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dataFiles } from '../../db/backup/data-files.ts'
import { dump } from '../../db/backup/dump.ts'
import { checkBackup, writeBackup } from '../../db/backup/file.ts'
import { restore } from '../../db/backup/restore.ts'
import { createWriteProbe } from '../../db/health/write-probe.ts'
import { migrate } from '../../db/migrate.ts'
import { StartError } from '../../start-error.ts'
import { codePurposes } from '../../subgraphs/identity/stores/code.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { type DataFolder, launch, newDataFolder } from '../kit/launch.ts'
import { fingerprint } from './fingerprint.ts'

const migrations = join(import.meta.dirname, '..', '..', 'db', 'migrations')
const uuid = '018f0000-0000-7000-8000-000000000001'

let source: TestDatabase
let target: TestDatabase
let folder: DataFolder
let path: string
beforeEach(async () => {
  ;[source, target] = await Promise.all([createTestDatabase(), createTestDatabase({ empty: true })])
  folder = newDataFolder()
  path = join(folder.path, 'platform.backup')
})
afterEach(async () => {
  await Promise.all([source.drop(), target.drop(), folder[Symbol.asyncDispose]()])
})

/** Runs statements at the source. */
async function write(...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await source.sequelize.query(statement)
}
const brandNamed = (name: string) =>
  `insert into publishing.brands (id, organization_id, name, version, created_at, updated_at, created_by) values ('${uuid}', '${uuid}', ${pg.escapeLiteral(name)}, 1, now(), now(), 'user:x')`
const fact = (subject: string) =>
  `insert into publishing.facts (id, kind, subject, receiver, body, at) values (gen_random_uuid(), 'post.failed', '${subject}', 'launcher', '{}', now())`

const backUp = () => writeBackup(path, dump({ url: source.url, version: '1.2.3', now: new Date(0), files: [], dataDir: folder.path }))
const restoreBackup = async (url = target.url) => restore({ url, path, header: (await checkBackup(path)).header, directory: migrations, dataDir: folder.path })
const refused = async (work: Promise<unknown>) => {
  const error = await work.then(() => null).catch(thrown => thrown)
  expect(error).toBeInstanceOf(StartError)
  return (error as StartError).message
}
/** Changes lines of the backup, without its hash. */
function rewrite(change: (lines: string[]) => string[]): void {
  writeFileSync(path, gzipSync(change(gunzipSync(readFileSync(path)).toString().split('\n')).join('\n')))
}

test('a platform stays ready while a backup runs, and its backup can be restored', async () => {
  const probe = () => createWriteProbe(sql => source.sequelize.query(sql))()
  await probe()
  const running = dump({ url: source.url, version: '1.2.3', now: new Date(0), files: [], dataDir: folder.path })
  await running.next()
  // Otherwise it waits for the backup's locks until the statement timeout.
  await probe()
  await running.return(0)
  await backUp()
  await restoreBackup()
  expect(await fingerprint(target.url)).toEqual(await fingerprint(source.url))
})

test('restores every row unchanged, whatever it contains, and continues sequences', async () => {
  const odd = String.raw`tab	newline
\. \N \\ "quote" ' \x5c Zürich 🎉`
  await write(brandNamed(odd), fact('a'), fact('b'))
  const before = await fingerprint(source.url)
  await backUp()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await restoreBackup()
  const after = await fingerprint(target.url)
  expect(after).toEqual(before)
  expect(before['publishing.facts']).toMatch(/^2 rows /)

  const [[next]] = (await target.sequelize.query(`${fact('c')} returning seq::int`)) as unknown as [[{ seq: number }]]
  const [[last]] = (await target.sequelize.query("select max(seq)::int as seq from publishing.facts where subject <> 'c'")) as unknown as [[{ seq: number }]]
  expect(next.seq).toBeGreaterThan(last.seq)
})

test('the restored tables equal those of a platform that was never backed up: columns, keys, indexes, working triggers', async () => {
  await backUp()
  await restoreBackup()
  expect(await shape(target.url)).toEqual(await shape(source.url))
})

test('reads one snapshot: a concurrent transaction is in it completely or not at all, and is not blocked', async () => {
  await write(
    'create table publishing.left_side (n int)',
    'create table publishing.right_side (n int)',
    'insert into publishing.left_side values (-1)',
    'insert into publishing.right_side values (-1)',
  )
  const lines = dump({ url: source.url, version: '1.2.3', now: new Date(0), files: [], dataDir: folder.path })
  const text: string[] = []
  for (let next = await lines.next(), number = 0; ; next = await lines.next()) {
    if (next.done) break
    text.push(String(next.value))
    // Both tables or none: the rows were written while the backup was between the two tables.
    await write(`with l as (insert into publishing.left_side values (${number})) insert into publishing.right_side values (${number++})`)
  }
  const rowsOf = (name: string) => /\n([\s\S]*?)\\\.\n/.exec(text.join('').split(`{"table":"publishing.${name}"`)[1]!)![1]
  expect([rowsOf('left_side'), rowsOf('right_side')]).toEqual(['-1\n', '-1\n'])
  const [[written]] = (await source.sequelize.query('select count(*)::int as n from publishing.left_side')) as unknown as [[{ n: number }]]
  expect(written.n).toBeGreaterThan(20)
})

test('prevents changes of tables while it runs, as by a migration', async () => {
  const lines = dump({ url: source.url, version: '1.2.3', now: new Date(0), files: [], dataDir: folder.path })
  await lines.next()
  for (const change of ['alter table publishing.posts add column more integer', 'drop table publishing.failed_before'])
    await expect(source.sequelize.query(`set lock_timeout to 200; ${change}`), change).rejects.toMatchObject({ parent: { code: '55P03' } })
  await lines.return(0)
})

test('restores rows that migrations write as in the backup, not as in a new platform', async () => {
  const directory = join(folder.path, 'migrations')
  cpSync(migrations, directory, { recursive: true })
  writeFileSync(
    join(directory, 'publishing', '9999_words.sql'),
    `create table words (id int primary key, word text); insert into words values (1, 'new'), (2, 'gone');`,
  )
  await migrate({ url: source.url, directory, log: pino({ level: 'silent' }) })
  await write(`update publishing.words set word = 'changed' where id = 1`, 'delete from publishing.words where id = 2')
  await backUp()
  await restore({ url: target.url, path, header: (await checkBackup(path)).header, directory, dataDir: folder.path })
  expect((await target.sequelize.query('select id, word from publishing.words'))[0]).toEqual([{ id: 1, word: 'changed' }])
})

test('restores every row exactly, whatever the database’s settings for times and bytes', async () => {
  await write(brandNamed('A brand'), fact('a'))
  const before = await fingerprint(source.url)
  const name = new URL(source.url).pathname.slice(1)
  for (const setting of ["datestyle to 'sql, dmy'", "timezone to 'Asia/Kolkata'", 'extra_float_digits to -5', "statement_timeout to '1h'"])
    await write(`alter database ${name} set ${setting}`)
  await backUp()
  await restoreBackup()
  expect(await fingerprint(target.url)).toEqual(before)
})

test('contains no jobs: they are created anew from their rows', async () => {
  await backUp()
  expect(gunzipSync(readFileSync(path)).toString()).not.toMatch(/publishing_jobs/)
})

test('rejects a changed, truncated or foreign file before anything is touched', async () => {
  await backUp()
  const whole = readFileSync(path)
  rewrite(lines => lines.map((line, at) => (at === 3 ? `${line} ` : line)))
  expect(await refused(checkBackup(path))).toMatch(/is damaged: .*nothing was restored$/)
  writeFileSync(path, whole.subarray(0, whole.length - 40))
  expect(await refused(checkBackup(path))).toMatch(/\(it is cut short\)$/)
  writeText(path, 'hello\n')
  expect(await refused(checkBackup(path))).toMatch(/is no backup of this platform$/)
  writeFileSync(path, 'hello')
  expect(await refused(checkBackup(path))).toMatch(/\(it is no backup, or damaged\)$/)
  expect(await refused(checkBackup(join(folder.path, 'none')))).toMatch(/\(there is no such file\)$/)
})

test('rejects a file of a newer version, and one with unknown migrations', async () => {
  await backUp()
  const { header } = await checkBackup(path)
  const books = [...header.migrations, { slug: 'publishing', file: '9999_later.sql', checksum: 'x' }]
  const options = { url: target.url, path, directory: migrations, dataDir: folder.path }
  expect(await refused(restore({ ...options, header: { ...header, migrations: books } }))).toMatch(
    /^migration publishing\/9999_later\.sql is not part of this version: /,
  )
  const others = header.migrations.map((book, at) => (at === 0 ? { ...book, checksum: 'x' } : book))
  expect(await refused(restore({ ...options, header: { ...header, migrations: others } }))).toMatch(/ is another one in this version: /)
  writeText(path, `${JSON.stringify({ ...header, format: 2, version: '9.0.0' })}\n`)
  expect(await refused(checkBackup(path))).toMatch(/was written by a newer version \(9\.0\.0\)/)
  expect(await fingerprint(target.url)).toEqual({})
})

test('rejects a database that is not empty, and an existing file, and leaves them unchanged', async () => {
  await backUp()
  await target.sequelize.query('create table mine (n int)')
  expect(await refused(restoreBackup())).toBe('the database is not empty (it holds public.mine): nothing was restored; name an empty one')
  expect(await refused(backUp())).toBe(`${path} is there already: name a new file, or move that one away`)
})

test('leaves nothing behind when the tables reject rows', async () => {
  await write(fact('a'))
  await backUp()
  rewrite(lines => lines.map(line => line.replace('post.failed', 'post.failed\tone too many')))
  const header = JSON.parse(gunzipSync(readFileSync(path)).toString().split('\n')[0]!)
  expect(await refused(restore({ url: target.url, path, header, directory: migrations, dataDir: folder.path }))).toMatch(
    /^the database does not take the backup, nothing was restored: /,
  )
  expect(await fingerprint(target.url)).toEqual({})
})

test('restores files of the data folder for the owner only, and never replaces another platform’s', async () => {
  const [from, to] = [join(folder.path, 'from'), join(folder.path, 'to')]
  mkdirSync(join(from, 'sandbox'), { recursive: true })
  for (const file of Object.values(dataFiles)) writeFileSync(join(from, file), `{"of":"${file}"}\n`)
  mkdirSync(to)
  await writeBackup(path, dump({ url: source.url, version: '1.2.3', now: new Date(0), files: [dataFiles.keys, dataFiles.sandbox], dataDir: from }))
  const { header } = await checkBackup(path)
  const options = { url: target.url, path, header, directory: migrations, dataDir: to }
  writeFileSync(join(to, 'keys.json'), 'others')
  expect(await refused(restore(options))).toMatch(/keys\.json is there already, of another platform/)
  expect(await fingerprint(target.url)).toEqual({})
  writeFileSync(join(to, 'keys.json'), readFileSync(join(from, 'keys.json')))
  expect(await restore(options)).toEqual({ files: ['keys.json', 'sandbox/state.ndjson'], changed: new Map() })
  expect(readFileSync(join(to, 'sandbox/state.ndjson'), 'utf8')).toBe('{"of":"sandbox/state.ndjson"}\n')
  expect(statSync(join(to, 'sandbox/state.ndjson')).mode & 0o777).toBe(0o600)
})

test('can restore due posts as drafts, because they were sent since; posts in progress, later or done stay', async () => {
  const post = (number: number, more: string, values: string) =>
    `insert into publishing.posts (brand_id, id, thread_id, position, platform, copy, created_at, updated_at, created_by, ${more})
     values ('${uuid}', '018f0000-0000-7000-8000-00000000001${number}', '018f0000-0000-7000-8000-00000000002${number}', 1, 'X', 'post ${number}', now(), now(), 'user:x', ${values})`
  await write(
    brandNamed('Bakery'),
    post(1, 'status, scheduled_at', "'SCHEDULED', now() - interval '1 hour'"),
    post(2, 'status, scheduled_at', "'SCHEDULED', now() + interval '1 hour'"),
    post(3, 'status, scheduled_at, delivery_phase, claim_id, claim_until', `'SCHEDULED', now() - interval '1 hour', 'CLAIMED', '${uuid}', now()`),
    post(
      4,
      'status, scheduled_at, delivery_phase, claim_id, claim_until, attempts, external_account_id',
      `'SCHEDULED', now() - interval '1 hour', 'SENDING', '${uuid}', now(), 1, 'x'`,
    ),
    post(5, 'status', "'DRAFT'"),
    post(6, 'status, scheduled_at, waits_until, waiting_since, waits', "'SCHEDULED', now() - interval '1 hour', now(), now(), 3"),
  )
  await backUp()
  const run = launch(process.execPath, ['scripts/restore.ts', path, '--overdue-as-drafts'], { DATABASE_URL: target.url, DATA_DIR: join(folder.path, 'data') })
  expect([await run.ended, run.complained()]).toEqual([0, ''])
  expect(run.said()).toMatch(/posts that were due, and are drafts now: 3\n/)
  expect((await target.sequelize.query('select copy, status, delivery_phase from publishing.posts order by copy'))[0]).toEqual([
    { copy: 'post 1', status: 'DRAFT', delivery_phase: 'NONE' },
    { copy: 'post 2', status: 'SCHEDULED', delivery_phase: 'NONE' },
    { copy: 'post 3', status: 'DRAFT', delivery_phase: 'NONE' },
    { copy: 'post 4', status: 'SCHEDULED', delivery_phase: 'SENDING' },
    { copy: 'post 5', status: 'DRAFT', delivery_phase: 'NONE' },
    { copy: 'post 6', status: 'DRAFT', delivery_phase: 'NONE' },
  ])
})

test('with --end-sessions nothing opens the restored platform that was good at the moment of the backup, but passwords, keys, and codes that only prove', async () => {
  const code = (number: number, purpose: string) =>
    `insert into identity.codes (id, purpose, subject, hash, details, created_at, expires_at) values (gen_random_uuid(), '${purpose}', '${uuid}', '${number}', '{}', now(), now() + interval '1 hour')`
  await write(
    `insert into identity.users (id, name, email, email_verified, created_at, updated_at) values ('${uuid}', 'Ada', 'ada@acme.test', true, now(), now())`,
    `insert into identity.sessions (id, user_id, token, created_at, updated_at, expires_at) values ('${uuid}', '${uuid}', 'x', now(), now(), now() + interval '1 day')`,
    `insert into identity.oauth_families (session_id, family_hash, refresh_hash, auth_time, created_at) values ('${uuid}', 'f', 'r', now(), now())`,
    `insert into identity.signing_keys (id, public_key, private_key, created_at) values ('${uuid}', '{}', 'sealed', now())`,
    ...codePurposes.map((purpose, at) => code(at, purpose)),
  )
  await backUp()
  const env = { DATABASE_URL: target.url, DATA_DIR: join(folder.path, 'data') }
  const run = launch(process.execPath, ['scripts/restore.ts', path, '--end-sessions'], env)
  expect([await run.ended, run.complained()]).toEqual([0, ''])
  expect(run.said()).toMatch(/sessions that were ended, and one-time codes and signing keys with them: 1\n/)
  const left = async (sql: string) => ((await target.sequelize.query(sql))[0] as { found: string }[]).map(({ found }) => found)
  expect(await left('select email as found from identity.users')).toEqual(['ada@acme.test'])
  for (const table of ['sessions', 'oauth_families', 'signing_keys']) expect(await left(`select 'some' as found from identity.${table}`)).toEqual([])
  expect(await left('select purpose as found from identity.codes order by 1')).toEqual(['invitation', 'verify-email'])
})

test('killed midway it leaves an empty database, at both of the worst moments; the same command then completes', async () => {
  await write(fact('a'))
  const before = await fingerprint(source.url)
  writeFileSync(join(folder.path, 'keys.json'), 'generated')
  const backup = launch('npm', ['run', '--silent', 'backup', '--', path], { DATABASE_URL: source.url, DATA_DIR: folder.path })
  expect([await backup.ended, backup.complained()]).toEqual([0, ''])
  expect(backup.said()).toMatch(/ rows, read again and whole; .*\nIt holds the keys too /)

  const data = join(folder.path, 'data')
  const run = (more: Record<string, string> = {}) =>
    launch(process.execPath, ['scripts/restore.ts', path], { DATABASE_URL: target.url, DATA_DIR: data, ...more })
  for (const crashAt of ['backup-restored-not-committed', 'backup-files-written']) {
    expect(await run({ CRASH_AT: crashAt }).ended).toBe('SIGKILL')
    expect(await fingerprint(target.url)).toEqual({})
  }
  const last = run()
  expect([await last.ended, last.complained()]).toEqual([0, ''])
  expect(last.said()).toMatch(/rows of .* are in the database of DATABASE_URL\nin .*: keys\.json\nSessions, .*\n$/)
  expect(await fingerprint(target.url)).toEqual(before)
  expect(readFileSync(join(data, 'keys.json'), 'utf8')).toBe('generated')
})

/** Writes a file with this text and nothing else. */
const writeText = (file: string, text: string): void => writeFileSync(file, gzipSync(text))

/** What the catalogue says of our tables. */
async function shape(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`
      select table_schema, table_name, column_name, data_type, is_nullable, column_default as more from information_schema.columns where table_schema !~ '_jobs$|^pg_|^information' 
      union all select schemaname, tablename, indexname, indexdef, '', '' from pg_indexes where schemaname !~ '_jobs$|^pg_'
      union all select connamespace::regnamespace::text, conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', '' from pg_constraint where connamespace::regnamespace::text !~ '_jobs$|^pg_|^information'
      union all select relnamespace::regnamespace::text, tgrelid::regclass::text, tgname, pg_get_triggerdef(t.oid), tgenabled::text, ''
        from pg_trigger t join pg_class c on c.oid = tgrelid where not tgisinternal and relnamespace::regnamespace::text !~ '_jobs$|^pg_'
      order by 1, 2, 3, 4`)
    return rows
  } finally {
    await client.end()
  }
}
