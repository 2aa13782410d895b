import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { canRead } from '../../db/embedded/account.ts'
import { startPostgres } from '../../db/embedded.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launch, launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'
import { databaseUrl, serverUrl } from '../kit/run/template.ts'
import { complaintOf } from './complaint.ts'

interface PostSeen {
  readonly id: string
  readonly status: string
  readonly approval: string
  readonly version: number
}

/** A program of somebody else's on a port, which closes each connection. */
async function listening() {
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

describe('prints one readable line, exits with 1 and leaves nothing running after a start with', () => {
  test('mistakes in the configuration: one line for each', async () => {
    await using folder = newDataFolder()
    expect(await complaintOf(folder, { PORT: 'four', DEMO: 'perhaps', DATABASE_URL: 'mysql://localhost/x', TRUST_PROXY: '10.0.0.0/8,nobody' })).toBe(
      [
        'PORT: must be a port number from 0 to 65535',
        'TRUST_PROXY: must be 0, 1, or the addresses and networks of the proxies with commas between, such as 10.0.0.0/8,192.168.1.7',
        'DATABASE_URL: must be an address such as postgres://user:password@host:5432/database',
        'DEMO: must be one of 0, 1, true, false',
        '',
      ].join('\n'),
    )
  })

  test('no keys in production', async () => {
    await using folder = newDataFolder()
    const lines = (await complaintOf(folder, { ENVIRONMENT: 'production' })).trim().split('\n')
    expect(lines.map(line => JSON.parse(line).msg)).toEqual([
      expect.stringMatching(/^AUTH_SECRET: missing/),
      expect.stringMatching(/^ENCRYPTION_KEYS: missing/),
      expect.stringMatching(/^SMTP_URL: missing/),
    ])
  })

  test('an occupied port', async () => {
    await using folder = newDataFolder()
    await using stranger = await listening()
    const { port } = stranger
    expect(await complaintOf(folder, { PORT: String(port) })).toBe(`port ${port} is taken: stop what listens there, or set PORT to another one\n`)
    // The sandbox's processor has events of the demo's bundles, which are not for whoever has the port.
    expect(stranger.connections()).toBe(0)
  })

  test('an occupied port while posts are due: they wait for a successful start', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    const environment = { ...(await platformEnvironment(folder)), DATABASE_URL: database.url }
    const first = launchPlatform(environment)
    await first.printed(readyLine)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await database.sequelize.query(`update publishing.posts set scheduled_at = now() - interval '1 minute' where status = 'SCHEDULED'`)
    const posts = async () => (await database.sequelize.query('select id, status, approval, version from publishing.posts order by id'))[0] as PostSeen[]
    const before = await posts()
    await using stranger = await listening()
    expect(await complaintOf(folder, { ...environment, PORT: String(stranger.port) })).toMatch(/^port \d+ is taken: .*\n$/)
    expect(await posts()).toEqual(before)

    const second = launchPlatform(environment)
    await second.printed(readyLine)
    await until('the posts are published, but for the one that somebody has to approve', async () =>
      (await posts()).every(({ status, approval }) => (status === 'SCHEDULED') === (approval === 'PENDING')),
    )
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  })

  test('a host that is not of this machine', async () => {
    await using folder = newDataFolder()
    expect(await complaintOf(folder, { HOST: '192.0.2.1', DEMO: '0' })).toMatch(
      /^192\.0\.2\.1:\d+ cannot be listened on \(EADDRNOTAVAIL\): set HOST and PORT .*\n$/,
    )
  })

  test.for([
    ['nothing listens at localhost:1, ', () => 'postgres://somebody:secret-word@localhost:1/x'],
    ['there is no database "absent" at ', () => databaseUrl(serverUrl(), 'absent')],
    ['refuses the password of user "postgres"', (): string => Object.assign(new URL(serverUrl()), { password: 'secret-word' }).href],
  ] as [string, () => string][])('a DATABASE_URL that leads nowhere: %s', async ([sentence, url]) => {
    await using folder = newDataFolder()
    const complaint = await complaintOf(folder, { DATABASE_URL: url() })
    expect(complaint).toMatch(/^DATABASE_URL does not lead to a database: .*\n$/)
    expect(complaint).toContain(sentence)
    expect(complaint).not.toContain('secret-word')
  })

  test('a database that a newer version has migrated', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    await database.sequelize.query(`insert into migrations.applied (slug, file, checksum) values ('publishing', '9999_later.sql', 'x')`)
    expect(await complaintOf(folder, { DATABASE_URL: database.url })).toBe(
      'the database holds migration publishing/9999_later.sql, which this version does not know: start the version that made it, or a newer one\n',
    )
  })

  test('a migration that fails', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase({ empty: true })
    await database.sequelize.query('create schema identity; create table identity.users (id text)')
    expect(await complaintOf(folder, { DATABASE_URL: database.url })).toMatch(
      /^migration identity\/0001_better_auth\.sql fails: relation "users" already exists: the database is not empty; use one of its own\n$/,
    )
  })

  test('a data folder that is a file, or below one', async () => {
    await using folder = newDataFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    expect(await complaintOf(folder, { DATA_DIR: file })).toMatch(/^data folder \S+ cannot be used \(it is a file\): set DATA_DIR .*\n$/)
    expect(await complaintOf(folder, { DATA_DIR: join(file, 'below') })).toMatch(
      /^data folder \S+ cannot be used \(a part of the path is a file\): set DATA_DIR .*\n$/,
    )
  })

  test('a data folder at a place where none can be created', async ({ skip }) => {
    if (process.platform !== 'linux') skip('only Linux has /proc, a folder in which nobody can make one')
    await using folder = newDataFolder()
    expect(await complaintOf(folder, { DATA_DIR: '/proc/nope/below' })).toBe(
      'data folder /proc/nope/below cannot be used (no folder can be made there): set DATA_DIR to a folder that can be written\n',
    )
  })

  test('a disk without room', async ({ skip }) => {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) skip('only root on Linux can mount a small disk')
    await using folder = newDataFolder()
    const small = join(folder.path, 'small')
    mkdirSync(small)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]).status !== 0) skip('nothing can be mounted here')
    try {
      expect(await complaintOf(folder, { DATA_DIR: small })).toMatch(/^the database in \S+ cannot be made: .*No space left on device.*\n$/)
      spawnSync('sh', ['-c', `head -c 3000000 /dev/zero > ${small}/full`])
      expect(await complaintOf(folder, { DATA_DIR: small })).toMatch(/^(?:data folder )?\S+ cannot be (?:used|written) \(the disk is full\): .*\n$/)
    } finally {
      spawnSync('umount', ['-l', small])
    }
  })

  test('a data folder of another user', async ({ skip }) => {
    const account = { uid: 12345, gid: 12345 }
    if (process.getuid?.() !== 0) skip('only root can start a program as somebody else')
    if (!canRead(account, import.meta.filename) || !canRead(account, process.execPath)) skip('an ordinary user cannot read this project here')
    await using folder = newDataFolder()
    chmodSync(folder.path, 0o700)
    expect(await complaintOf(folder, {}, account)).toMatch(/^data folder \S+ cannot be used \(permission denied.*\): set DATA_DIR .*\n$/)
  })

  test('damaged generated keys, which must not be replaced', async () => {
    await using folder = newDataFolder()
    writeFileSync(join(folder.path, 'keys.json'), '{"authSecret":"half')
    expect(await complaintOf(folder, {})).toMatch(/^\S+keys\.json cannot be read \(it is damaged\): restore it from a backup; .*\n$/)
    writeFileSync(join(folder.path, 'keys.json'), JSON.stringify({ authSecret: 's'.repeat(43), encryptionKey: 'c2hvcnQ=' }))
    expect(await complaintOf(folder, {})).toMatch(/^\S+keys\.json is not what was written there: restore it from a backup; .*\n$/)
  })

  test('a state of the sandbox that was damaged', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    mkdirSync(join(folder.path, 'sandbox'))
    writeFileSync(join(folder.path, 'sandbox', 'state.ndjson'), '{half\n{half\n')
    expect(await complaintOf(folder, { DATABASE_URL: database.url })).toMatch(/^the sandbox cannot go on with \S+sandbox \(.*JSON.*\): remove that, .*\n$/)
  })

  test('files of another major version of PostgreSQL', async () => {
    await using folder = newDataFolder()
    const postgres = await startPostgres({ folder: folder.path, log: pino({ level: 'silent' }) })
    await postgres.stop()
    writeFileSync(join(folder.path, 'postgres', 'data', 'PG_VERSION'), '17\n')
    expect(await complaintOf(folder, {})).toMatch(
      /^the database of data folder \S+ does not start: database files are incompatible .*pg_dump; or empty \S+ with npm run reset\n$/,
    )
  })

  test('a sandbox folder in which no sandbox runs', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    expect(await complaintOf(folder, { DATABASE_URL: database.url, SANDBOX_DIR: join(folder.path, 'none') })).toMatch(
      /^SANDBOX_DIR: no sandbox runs on \S+: start one with .*\n$/,
    )
  })
})

test('`npm run demo:ids` before the first start says what to do and exits 1', async () => {
  await using folder = newDataFolder()
  const command = launch('npm', ['run', '--silent', 'demo:ids'], { DATA_DIR: folder.path })
  expect(await command.ended).toBe(1)
  expect(command.said()).toBe('')
  expect(command.complained()).toBe(
    `${folder.path} holds no demo.json: run npm start once, with demo data, or set DATA_DIR to the folder of the platform that has them\n`,
  )
})
