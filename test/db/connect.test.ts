import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkConnection, connect, createOpenPool } from '../../db/connect.ts'
import { startPostgres } from '../../db/embedded.ts'
import { StartError } from '../../start-error.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { newTestFolder } from '../kit/run/folder.ts'
import { countStatements } from '../kit/statements.ts'

const log = pino({ level: 'silent' })

describe('DATABASE_URL', () => {
  let database: TestDatabase
  const closers: (() => void)[] = []
  beforeAll(async () => {
    database = await createTestDatabase({ empty: true })
  })
  afterEach(() => {
    for (const close of closers.splice(0)) close()
  })
  afterAll(() => database.drop())

  const changed = (change: (url: URL) => void) => {
    const url = new URL(database.url)
    change(url)
    return url.href
  }

  /** Listens on a free loopback port; ends with the test. */
  async function listen(answer: (socket: Socket) => void): Promise<number> {
    const server = createServer(socket => {
      socket.on('error', () => {})
      closers.push(() => socket.destroy())
      answer(socket)
    })
    closers.push(() => server.close())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  }

  test('that is valid yields the major version', async () => {
    expect(await checkConnection(database.url)).toBe(18)
  })

  test('that is no address is reported', async () => {
    for (const wrong of ['', 'localhost:5432', 'mysql://root@localhost/db']) {
      await expect(checkConnection(wrong)).rejects.toThrow(
        new StartError('DATABASE_URL is not an address of a PostgreSQL database: write it as postgres://user:password@host:5432/database'),
      )
    }
  })

  test('of a port where nothing listens is reported', async () => {
    const port = await listen(() => {})
    for (const close of closers.splice(0)) close()
    await expect(checkConnection(`postgres://me:secret@127.0.0.1:${port}/db`)).rejects.toThrow(
      new StartError(`DATABASE_URL does not lead to a database: nothing listens at 127.0.0.1:${port}, start the server or correct host and port`),
    )
  })

  test('of an unknown host is reported', async () => {
    await expect(checkConnection('postgres://me:secret@no-such-host.invalid/db')).rejects.toThrow(
      /the host of no-such-host\.invalid:5432 is unknown, correct it$/,
    )
  })

  test('of a server that never answers is reported after a bounded time', async () => {
    const port = await listen(() => {})
    await expect(checkConnection(`postgres://me:secret@127.0.0.1:${port}/db`, 200)).rejects.toThrow(/did not answer within 0\.2 seconds$/)
  })

  test('with a wrong password is reported without the password', async () => {
    const { host } = new URL(database.url)
    const failure = checkConnection(changed(url => Object.assign(url, { password: 'hunter2' })))
    await expect(failure).rejects.toThrow(new StartError(`DATABASE_URL does not lead to a database: ${host} refuses the password of user "postgres"`))
    await expect(checkConnection(changed(url => Object.assign(url, { password: '' })))).rejects.toThrow(/asks for a password for user "postgres"$/)
  })

  test('of an unknown database is reported', async () => {
    const { host } = new URL(database.url)
    await expect(checkConnection(changed(url => Object.assign(url, { pathname: '/nowhere' })))).rejects.toThrow(
      new StartError(`DATABASE_URL does not lead to a database: there is no database "nowhere" at ${host}, create it`),
    )
  })

  test('of a PostgreSQL before 16 is reported', async () => {
    // The minimum of PostgreSQL's wire protocol: accepts every login and answers every query with its version.
    const message = (type: string, ...parts: (string | Buffer)[]) => {
      const body = Buffer.concat(parts.map(part => Buffer.from(part as string)))
      const head = Buffer.from(`${type}\0\0\0\0`)
      head.writeInt32BE(body.length + 4, 1)
      return Buffer.concat([head, body])
    }
    const ready = message('Z', 'I')
    const text = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0])
    const row = [message('T', '\0\x01server_version_num\0', text), message('D', '\0\x01\0\0\0\x06150020'), message('C', 'SHOW\0')]
    const port = await listen(socket => {
      socket.on('data', data => {
        if (data[0] === 0) socket.write(Buffer.concat([message('R', '\0\0\0\0'), ready]))
        if (data[0] === 0x51) socket.write(Buffer.concat([...row, ready]))
        if (data[0] === 0x58) socket.end()
      })
    })
    await expect(checkConnection(`postgres://me@127.0.0.1:${port}/db`)).rejects.toThrow(
      new StartError(`DATABASE_URL leads to PostgreSQL 15 at 127.0.0.1:${port}: use PostgreSQL 16 or newer`),
    )
  })
})

describe('a connection', () => {
  test('reads times as UTC and spends no statement on saying so', async () => {
    await using database = await createTestDatabase({ empty: true })
    const { sequelize, close } = connect({ url: database.url, poolSize: 2, log })
    await sequelize.authenticate()
    const { result, statements } = await countStatements(() =>
      // Two queries at once: the second needs a new session.
      Promise.all(
        ['a', 'b'].map(name =>
          sequelize.query(`select '${name}', current_setting('timezone') as zone, timestamptz '2026-01-02 03:04:05Z' as at, pg_sleep(0.05)`),
        ),
      ),
    )
    expect(statements).toHaveLength(2)
    expect(result[0]![0][0]).toMatchObject({ zone: 'UTC', at: new Date('2026-01-02T03:04:05Z') })
    await close()
  })

  test('limits the time of statements, locks and idle transactions, in every pool', async () => {
    await using database = await createTestDatabase({ empty: true })
    const { sequelize, close } = connect({ url: database.url, poolSize: 1, log })
    const pool = createOpenPool({ url: database.url, log })({ use: 'jobs', name: 'test', schema: 'public' })
    const show = `select name, setting::int as ms from pg_settings where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') order by name`
    const times = [
      { name: 'idle_in_transaction_session_timeout', ms: 15_000 },
      { name: 'lock_timeout', ms: 5_000 },
      { name: 'statement_timeout', ms: 8_000 },
    ]
    expect((await sequelize.query(show))[0]).toEqual(times)
    expect((await pool.query(show)).rows).toEqual(times)
    await Promise.all([close(), pool.end()])
  })

  test('that is being established while its pool ends is closed silently', async () => {
    await using database = await createTestDatabase({ empty: true })
    const lines: string[] = []
    const logger = pino({ level: 'debug' }, { write: line => void lines.push(line) })
    const { sequelize, close } = connect({ url: database.url, poolSize: 2, log: logger })
    const pool = createOpenPool({ url: database.url, log: logger })({ use: 'jobs', name: 'test' })
    const asked = Promise.allSettled([
      sequelize.query('select 1'),
      sequelize.query('select pg_sleep(60)'),
      pool.query('select 1'),
      pool.query('select pg_sleep(60)'),
    ])
    await Promise.all([close(), pool.end(), asked])
    const sessions = `select count(*)::int as n from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`
    await database.sequelize.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
    )
    await expect.poll(async () => (await database.sequelize.query(sessions))[0]).toEqual([{ n: 0 }])
    expect(lines).toEqual([])
  })

  test('holds no more sessions than it may', async () => {
    await using database = await createTestDatabase({ empty: true })
    const { sequelize, close } = connect({ url: database.url, poolSize: 3, log })
    const answers = await Promise.all(Array.from({ length: 12 }, () => sequelize.query('select pg_backend_pid() as pid, pg_sleep(0.02)')))
    expect(new Set(answers.map(([[row]]) => (row as { pid: number }).pid)).size).toBeLessThanOrEqual(3)
    await close()
  })

  describe('of a server without free connections', () => {
    /** A database and a role that may hold one connection to it. */
    async function oneSlot() {
      const database = await createTestDatabase({ empty: true })
      const role = `one_${randomBytes(6).toString('hex')}`
      await database.sequelize.query(`create role ${role} login password 'p' connection limit 1`)
      const url = new URL(database.url)
      ;[url.username, url.password] = [role, 'p']
      const { sequelize, close } = connect({ url: url.href, poolSize: 5, log })
      return {
        ask: () => sequelize.query('select pg_sleep(0.01)'),
        taken: () => connect({ url: url.href, poolSize: 1, log }),
        async [Symbol.asyncDispose]() {
          await close()
          await expect.poll(async () => database.sequelize.query(`drop role ${role}`).then(() => 'gone', String)).toBe('gone')
          await database.drop()
        },
      }
    }

    test('keeps its open connections, and fails no query that waits for one', async () => {
      await using server = await oneSlot()
      await expect.poll(() => server.ask().then(() => 'asked', String)).toBe('asked')
      expect((await Promise.allSettled(Array.from({ length: 20 }, server.ask))).map(({ status }) => status)).toEqual(Array(20).fill('fulfilled'))
    })

    test('reports it at once when it has none itself', async () => {
      await using server = await oneSlot()
      const other = server.taken()
      await expect.poll(() => other.sequelize.query('select 1').then(() => 'asked', String)).toBe('asked')
      await expect(server.ask()).rejects.toMatchObject({ parent: { code: '53300' } })
      await other.close()
    })
  })

  test('survives a restart of the database: running statements fail, later ones work', async () => {
    const folder = newTestFolder()
    const first = await startPostgres({ folder, log })
    const { sequelize, close } = connect({ url: first.url, poolSize: 3, log })
    const pool = createOpenPool({ url: first.url, log })({ use: 'jobs', name: 'test', schema: 'pg_catalog' })
    try {
      await Promise.all([1, 2].flatMap(() => [sequelize.query('select pg_sleep(0.02)'), pool.query('select pg_sleep(0.02)')]))
      const interrupted = [sequelize.query('select pg_sleep(60)'), pool.query('select pg_sleep(60)')].map(query => expect(query).rejects.toThrow(/terminat/))
      const watcher = createOpenPool({ url: first.url, log })({ use: 'jobs', name: 'watcher' })
      const sleeping = "select count(*)::int as n from pg_stat_activity where query = 'select pg_sleep(60)'"
      while ((await watcher.query(sleeping)).rows[0].n < 2);
      await Promise.all([first.stop(), ...interrupted])
      await watcher.end()
      await expect(sequelize.query('select 1')).rejects.toThrow(/ECONNREFUSED|terminated/)
      const second = await startPostgres({ folder, log, settings: { port: new URL(first.url).port } })
      expect(await sequelize.query('select 1 as one')).toMatchObject([[{ one: 1 }], {}])
      expect((await pool.query('select current_schema() as name')).rows).toEqual([{ name: 'pg_catalog' }])
      await Promise.all([close(), pool.end()])
      await second.stop()
    } finally {
      await first.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
