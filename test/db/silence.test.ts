import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { connect, createOpenPool } from '../../db/connect.ts'
import { createOpenJobs, type JobPlan } from '../../platform/jobs/jobs.ts'
import { createTestDatabase } from '../kit/database.ts'
import { until } from '../kit/launch.ts'
import { tcpProxy } from '../kit/tcp-proxy.ts'

const log = pino({ level: 'silent' })
/** Long enough for a busy server to begin an answer, in ms. */
const silentMs = 1_000

const socketOf = (client: object) => (client as { connection: { stream: Socket } }).connection.stream

/** So many sessions at once, so that the pool holds as many connections. */
const many = (query: (sql: string) => Promise<unknown>, count: number) =>
  Promise.all(Array.from({ length: count }, () => query('select pg_backend_pid(), pg_sleep(0.05)')))

describe('silent connections', () => {
  test('fail the statements that wait for them, and are not handed out again', async () => {
    await using database = await createTestDatabase({ empty: true })
    await using proxy = await tcpProxy(database.url)
    const { sequelize, close } = connect({ url: proxy.url, poolSize: 3, log, silentMs })
    const pool = createOpenPool({ url: proxy.url, log, silentMs })({ use: 'jobs', name: 'test' })
    await Promise.all([many(sql => sequelize.query(sql), 3), many(sql => pool.query(sql), 3)])
    const held = await pool.connect()
    await held.query('begin')
    const transaction = await sequelize.transaction()
    expect(proxy.size).toBe(6)
    proxy.silence()
    const answers = await Promise.allSettled([
      sequelize.query('select 1'),
      sequelize.query('select 1'),
      sequelize.query('select 1', { transaction }),
      pool.query('select 1'),
      pool.query('select 1'),
      held.query('select 1'),
    ])
    const reason = expect.objectContaining({ message: 'the database has said nothing for 1 s' })
    expect(answers).toEqual(Array(6).fill({ status: 'rejected', reason }))
    await expect(transaction.rollback()).rejects.toThrow()
    held.release()
    await Promise.all([many(sql => sequelize.query(sql), 3), many(sql => pool.query(sql), 3)])
    await Promise.all([close(), pool.end()])
  })

  test('are kept while no statement waits for them', async () => {
    await using database = await createTestDatabase({ empty: true })
    await using proxy = await tcpProxy(database.url)
    const { sequelize, close } = connect({ url: proxy.url, poolSize: 1, log, silentMs })
    const session = async () => (await sequelize.query('select pg_backend_pid() as pid'))[0]
    const before = await session()
    await database.sequelize.query('select pg_sleep(1.2)')
    expect(await session()).toEqual(before)
    await close()
  })

  test('are not those that were quiet until a statement was sent just when their time was over', async () => {
    await using database = await createTestDatabase({ empty: true })
    const pool = createOpenPool({ url: database.url, log, silentMs })({ use: 'jobs', name: 'test' })
    const client = await pool.connect()
    // The same holds for a ping whose interval equals the allowed silence.
    const asked = new Promise((resolve, reject) => socketOf(client).once('timeout', () => client.query('select pg_sleep(0.02)').then(resolve, reject)))
    await asked
    client.release()
    await pool.end()
  })

  test('are not those whose answer waits to be read because this process was paused', async () => {
    await using database = await createTestDatabase({ empty: true })
    const { sequelize, close } = connect({ url: database.url, poolSize: 1, log, silentMs })
    const pool = createOpenPool({ url: database.url, log, silentMs })({ use: 'jobs', name: 'test' })
    const sessions = async () => [(await sequelize.query('select pg_backend_pid() as pid'))[0], (await pool.query('select pg_backend_pid() as pid')).rows]
    const before = await sessions()
    const asked = [sequelize.query('select pg_sleep(0.05)'), pool.query('select pg_sleep(0.05)')]
    // Sends, then pauses the process for longer than the server may be silent.
    await immediate()
    await immediate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * silentMs)
    await Promise.all(asked)
    expect(await sessions()).toEqual(before)
    await Promise.all([close(), pool.end()])
  })

  test('are given up at the end of their pool, also busy ones', async () => {
    await using database = await createTestDatabase({ empty: true })
    await using proxy = await tcpProxy(database.url)
    const { sequelize, close } = connect({ url: proxy.url, poolSize: 2, log })
    const pool = createOpenPool({ url: proxy.url, log })({ use: 'jobs', name: 'test' })
    await Promise.all([many(sql => sequelize.query(sql), 2), many(sql => pool.query(sql), 2)])
    proxy.silence()
    const asked = [sequelize.query('select 1'), pool.query('select 1')].map(query => expect(query).rejects.toThrow())
    await Promise.all([close(), pool.end(), ...asked])
  })

  test('that respond after the end of their pool are cut: no session survives it, and nothing is reported', async () => {
    await using database = await createTestDatabase({ empty: true })
    await using proxy = await tcpProxy(database.url)
    const lines: string[] = []
    const logger = pino({ level: 'debug' }, { write: line => void lines.push(line) })
    const { sequelize, close } = connect({ url: proxy.url, poolSize: 1, log: logger })
    const pool = createOpenPool({ url: proxy.url, log: logger })({ use: 'jobs', name: 'test' })
    proxy.silenceNew(true)
    const asked = [sequelize.query('select 1'), pool.query('select 1')].map(query => expect(query).rejects.toThrow())
    await Promise.all([close(), pool.end()])
    proxy.speak()
    await Promise.all(asked)
    const sessions = `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'supergraph%'`
    await until('no session is left', async () => (await database.sequelize.query(sessions))[0].length === 0)
    expect(lines).toEqual([])
  })

  test('hold up a job runner for no longer than their time', async () => {
    await using database = await createTestDatabase()
    await using proxy = await tcpProxy(database.url)
    const woken: string[] = []
    const plan: JobPlan = { slug: 'publishing', queues: [{ name: 'wake', handle: async ({ id }) => void woken.push(id!) }], sweeps: [], log }
    const jobs = createOpenJobs({ openPool: createOpenPool({ url: proxy.url, log, silentMs }) })(plan)
    await jobs.start()
    await jobs.enqueue('wake', { id: 'before' })
    await until('the first job ran', () => woken.length === 1)
    proxy.silence()
    await jobs.enqueue('wake', { id: 'lost' }).catch(() => {})
    await until('a job can be sent again', () =>
      jobs.enqueue('wake', { id: 'after' }).then(
        () => true,
        () => false,
      ),
    )
    await until('it ran', () => woken.includes('after'))
    await jobs.check()
    proxy.silence()
    proxy.silenceNew(true)
    await jobs.stop()
  })
})
