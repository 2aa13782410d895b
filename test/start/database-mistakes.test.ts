import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { startPostgres } from '../../db/embedded.ts'
import { lockKey } from '../../db/migrate.ts'
import { identify } from '../../db/process-table.ts'
import { createTestDatabase } from '../kit/database.ts'
import { kill, launchPlatform, leftovers, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'
import { administer, serverUrl } from '../kit/run/template.ts'
import { complaintOf } from './complaint.ts'

describe('prints one line with cause and remedy, exits with 1 and leaves nothing running after a start on', () => {
  test('a database whose tables lack something that its migrations made', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    await database.sequelize.query('alter table identity.organizations rename column name to title')
    expect(await complaintOf(folder, { DATABASE_URL: database.url })).toMatch(
      /^the database has other tables than this version makes \(column "?[\w.]*name"?.* does not exist\): .*a database of its own.*\n$/,
    )
  })

  test('a database in which its user may create nothing', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase({ empty: true })
    const name = new URL(database.url).pathname.slice(1)
    const role = `guest_${name}`
    await administer(serverUrl(), `create role ${role} login password 'secret-word'`)
    try {
      const url = Object.assign(new URL(database.url), { username: role, password: 'secret-word' })
      expect(await complaintOf(folder, { DATABASE_URL: url.href })).toBe(
        `the user of the database may not do what the platform needs (permission denied for database ${name}): as its administrator, grant create on database ${name} to it\n`,
      )
      await database.sequelize.query(`grant create on database ${name} to ${role}; create schema identity`)
      expect(await complaintOf(folder, { DATABASE_URL: url.href })).toMatch(
        /^the user of the database may not .*\(no schema has been selected to create in\): make it the owner of what is there.*\n$/,
      )
    } finally {
      await database.drop()
      await administer(serverUrl(), `drop role ${role}`)
    }
  })

  test('a read-only database', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase({ empty: true })
    await administer(serverUrl(), `alter database ${new URL(database.url).pathname.slice(1)} set default_transaction_read_only = on`)
    expect(await complaintOf(folder, { DATABASE_URL: database.url })).toMatch(/^the database takes no writes \(.*read-only transaction\): .*\n$/)
  })

  test('a database that requires TLS, and one with an untrusted certificate; with both configured it starts', async ({ skip }) => {
    if (spawnSync('openssl', ['version']).status !== 0) skip('there is no openssl here to make a certificate with')
    await using folder = newDataFolder()
    const files = mkdtempSync(join(tmpdir(), 'supergraph-tls-'))
    const [key, certificate, hba] = ['key.pem', 'certificate.pem', 'hba.conf'].map(name => join(files, name)) as [string, string, string]
    spawnSync(
      'openssl',
      `req -x509 -newkey rsa:2048 -nodes -keyout ${key} -out ${certificate} -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost`.split(' '),
    )
    writeFileSync(hba, 'hostssl all all 127.0.0.1/32 scram-sha-256\n')
    // PostgreSQL runs as the user nobody when root starts it.
    chmodSync(files, 0o755)
    chmodSync(key, 0o640)
    if (process.getuid?.() === 0) chownSync(key, 0, 65534)
    const data = join(folder.path, 'server')
    const settings = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key, hba_file: hba }
    const postgres = await startPostgres({ folder: data, log: pino({ level: 'silent' }), settings })
    try {
      const url = postgres.url.replace('127.0.0.1', 'localhost')
      const place = new URL(url).host
      const complaint = (parameters: string) => complaintOf(folder, { DATABASE_URL: url + parameters })
      expect(await complaint('')).toBe(`DATABASE_URL does not lead to a database: ${place} takes encrypted connections only, add ?sslmode=verify-full\n`)
      expect(await complaint('?sslmode=verify-full')).toBe(
        `DATABASE_URL does not lead to a database: the certificate of ${place} is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT), name its authority with &sslrootcert=FILE\n`,
      )
      const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: `${url}?sslmode=verify-full&sslrootcert=${certificate}` }
      const platform = launchPlatform(environment)
      await platform.printed(readyLine)
      const client = new pg.Client({ connectionString: environment.DATABASE_URL })
      await client.connect()
      // One that has not said yet who it is may not speak TLS yet.
      const sessions = `select distinct application_name, ssl from pg_stat_ssl join pg_stat_activity using (pid)
        where backend_type = 'client backend' and state <> 'starting' and application_name <> ''`
      const { rows } = await client.query<{ ssl: boolean }>(sessions)
      expect(rows.length).toBeGreaterThan(1)
      expect(rows.filter(({ ssl }) => !ssl)).toEqual([])
      await client.end()
      platform.child.kill('SIGTERM')
      expect(await platform.ended).toBe(0)
    } finally {
      await postgres.stop()
      rmSync(files, { recursive: true })
    }
    expect(await complaintOf(folder, { DATABASE_URL: `${serverUrl()}?sslmode=verify-full` })).toMatch(/ speaks no TLS, leave sslmode out\n$/)
  })
})

describe('TERM ends a start in order, whatever it waits for:', () => {
  /** Starts a platform, ends it when it waits, and sees that it neither complains nor leaves anything. */
  async function endWhile(waits: () => unknown, environment: Record<string, string>): Promise<void> {
    await using folder = newDataFolder()
    const platform = launchPlatform({ ...(await platformEnvironment(folder)), ...environment })
    await until('the start waits', waits)
    platform.child.kill('SIGTERM')
    // A start that is not asked to end complains and exits with 1 when its own patience is over.
    expect(await platform.ended).toBe(0)
    expect(platform.complained()).toBe('')
    expect(platform.said()).toMatch(/^stopping \(SIGTERM\): .*\nstopped\n$/)
    expect([folder.node(), folder.postgres(), leftovers(folder)]).toEqual([null, null, []])
  }

  test('a database server that accepts connections and does not answer', async () => {
    const sockets: Socket[] = []
    const silent = createServer(socket => void sockets.push(socket.on('error', () => {})))
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    await endWhile(() => sockets.length > 0, { DATABASE_URL: `postgres://me@127.0.0.1:${port}/db` })
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  test('another process that migrates', async () => {
    await using database = await createTestDatabase({ empty: true })
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('select pg_advisory_lock($1)', [lockKey])
    const waiting =
      "select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())"
    await endWhile(async () => (await holder.query(waiting)).rowCount, { DATABASE_URL: database.url })
    await holder.end()
  })

  test('an initdb that does not get on', async () => {
    await using folder = newDataFolder()
    const platform = launchPlatform(await platformEnvironment(folder))
    const half = await until('initdb is at work', () => readdirSync(folder.path).find(name => name.startsWith('postgres.new-')))
    const { pid } = await until('it is known', () => JSON.parse(readOr(join(folder.path, half, 'initdb.pid'), 'null')) as { pid: number } | null)
    process.kill(pid, 'SIGSTOP')
    platform.child.kill('SIGTERM')
    expect(await platform.ended).toBe(0)
    expect(platform.complained()).toBe('')
    expect([identify(pid), folder.node(), readdirSync(folder.path).filter(name => name.startsWith('postgres'))]).toEqual([null, null, []])
  })

  test('a PostgreSQL that outlived its platform and does not answer', async () => {
    await using folder = newDataFolder()
    const environment = await platformEnvironment(folder)
    const first = launchPlatform(environment)
    await first.printed(readyLine)
    await kill(folder.node())
    const postgres = folder.postgres()!
    process.kill(postgres.pid, 'SIGSTOP')
    const second = launchPlatform(environment)
    await until('the second start waits', () => folder.node()?.pid === second.child.pid)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    expect(second.complained()).toBe('')
    process.kill(postgres.pid, 'SIGCONT')
  })
})

test('a data folder of a newer version names the way to start over', async () => {
  await using folder = newDataFolder()
  const environment = await platformEnvironment(folder)
  const postgres = await startPostgres({ folder: folder.path, log: pino({ level: 'silent' }) })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`create schema migrations; create table migrations.applied (slug text, file text, checksum text);
    insert into migrations.applied values ('publishing', '9999_later.sql', 'x')`)
  await client.end()
  await postgres.stop()
  expect(await complaintOf(folder, environment)).toBe(
    `the database holds migration publishing/9999_later.sql, which this version does not know: start the version that made it, or a newer one; or empty ${folder.path} with npm run reset\n`,
  )
})

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8') || otherwise
  } catch {
    return otherwise
  }
}
