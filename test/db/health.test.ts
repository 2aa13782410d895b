import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { QueryTypes } from 'sequelize'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { watchClock } from '../../db/health/clock-watch.ts'
import { watchSchema } from '../../db/health/schema-watch.ts'
import { createWriteProbe } from '../../db/health/write-probe.ts'
import { watchDatabase } from '../../db/health.ts'
import { migrate, migrationCheck } from '../../db/migrate.ts'
import { createBoundClock } from '../../platform/clock.ts'
import { createOpenJobs, type JobPlan } from '../../platform/jobs/jobs.ts'
import { createTestDatabase } from '../kit/database.ts'
import { until } from '../kit/launch.ts'

const log = pino({ level: 'silent' })

describe('a database with newer migrations', () => {
  let older: string
  let newer: string
  beforeEach(() => {
    ;[older, newer] = ['older', 'newer'].map(name => mkdtempSync(join(tmpdir(), `migrations-${name}-`))) as [string, string]
    for (const directory of [older, newer]) {
      mkdirSync(join(directory, 'shop'))
      writeFileSync(join(directory, 'shop', '0001_first.sql'), 'create table first (id text)')
    }
  })
  afterEach(() => {
    for (const directory of [older, newer]) rmSync(directory, { recursive: true })
  })

  const open = async (later: string) => {
    writeFileSync(join(newer, 'shop', '0002_later.sql'), later)
    const database = await createTestDatabase({ empty: true })
    await migrate({ url: database.url, directory: older, log })
    const look = migrationCheck(older)
    const watch = watchSchema(() => look(sql => database.sequelize.query(sql, { type: QueryTypes.SELECT })), log)
    return { database, watch }
  }

  test('makes the program not ready and stops its jobs, until it is moved back', async () => {
    const { database, watch } = await open('create table later (id text)')
    await using _ = database
    await watch.check()
    expect(watch.isOurs()).toBe(true)
    await migrate({ url: database.url, directory: newer, log })
    await expect(watch.check()).rejects.toThrow(/^the database holds migration shop\/0002_later\.sql, which this version does not know/)
    expect(watch.isOurs()).toBe(false)
    await expect(migrate({ url: database.url, directory: older, log })).rejects.toThrow(/shop\/0002_later\.sql/)
    await database.sequelize.query(`delete from migrations.applied where file = '0002_later.sql'`)
    await watch.check()
    expect(watch.isOurs()).toBe(true)
  })

  test('stays usable when the newer migration is marked as compatible', async () => {
    const { database, watch } = await open('-- compatible: a table that nobody needs yet\ncreate table later (id text)')
    await using _ = database
    expect(await migrate({ url: database.url, directory: newer, log })).toEqual(['shop/0002_later.sql'])
    await watch.check()
    expect(watch.isOurs()).toBe(true)
    expect(await migrate({ url: database.url, directory: older, log })).toEqual([])
  })

  test('is not assumed because the database cannot be reached', async () => {
    const { database, watch } = await open('')
    await database.drop()
    await expect(watch.check()).rejects.toThrow()
    expect(watch.isOurs()).toBe(true)
  })

  test('of a version without compatibility marks is read as before', async () => {
    const { database, watch } = await open('select 1')
    await using _ = database
    await database.sequelize.query('alter table migrations.applied drop column compatible')
    await watch.check()
    expect(await migrate({ url: database.url, directory: newer, log })).toEqual(['shop/0002_later.sql'])
  })
})

describe('a read-only database', () => {
  test('is detected at most five seconds later', async () => {
    await using database = await createTestDatabase()
    let now = 0
    const probe = createWriteProbe(
      sql => database.sequelize.query(sql),
      () => now,
    )
    await probe()
    const name = new URL(database.url).pathname.slice(1)
    await database.sequelize.query(`alter database ${name} set default_transaction_read_only = on`)
    await database.sequelize.query('set default_transaction_read_only = on')
    now = 4_999
    await probe()
    now = 5_000
    await expect(probe()).rejects.toThrow('the database only reads: it is a standby, or set so')
    await expect(probe()).rejects.toThrow()
    await database.sequelize.query('set default_transaction_read_only = off')
    await probe()
  })

  test('is checked with a new page of the disk each time', async () => {
    await using database = await createTestDatabase()
    let now = 0
    const probe = createWriteProbe(
      sql => database.sequelize.query(sql),
      () => now,
    )
    const file = async () => (await database.sequelize.query(`select pg_relation_filepath('migrations.write_probe') as path`))[0]
    await probe()
    const before = await file()
    now = 10_000
    await probe()
    expect(await file()).not.toEqual(before)
  })
})

describe('a clock that differs from the database’s', () => {
  const day = 86_400_000
  const open = async (aheadMs: number) => {
    const database = await createTestDatabase({ empty: true })
    await database.sequelize.query('create schema migrations; create table migrations.applied (slug text, file text, checksum text)')
    const clock = { aheadMs, now: () => new Date(Date.now() + clock.aheadMs) }
    const lines: { level: number; msg: string; reason?: string }[] = []
    const logger = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
    const watch = await watchDatabase({ sequelize: database.sequelize, migrations: join(import.meta.dirname, 'none'), log: logger, clock })
    const check = watch.readiness.find(({ name }) => name === 'clock')!.check
    return { database, clock, lines, watch, check }
  }

  test.for([
    [200_000, "the clock of this machine is 200 s ahead of the database's"],
    [-3_600_000, "the clock of this machine is 3600 s behind the database's"],
    [500 * day, "the clock of this machine is 43200000 s ahead of the database's"],
  ] as const)('by %i ms is told at the start, once, and nothing runs until it does', async ([aheadMs, reason]) => {
    const { database, clock, lines, watch, check } = await open(aheadMs)
    await using _ = database
    expect(watch.mayRun()).toBe(false)
    await expect(check()).rejects.toThrow(reason)
    await expect(check()).rejects.toThrow(reason)
    expect(lines).toEqual([expect.objectContaining({ level: 50, reason })])
    clock.aheadMs = 0
    await check()
    await check()
    expect(watch.mayRun()).toBe(true)
    expect(lines.slice(1)).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('agree again') })])
    watch.stop()
  })

  test.for([0, 25_000, -25_000])('by more than half a minute is not one that differs by %i ms', async aheadMs => {
    const { database, lines, watch, check } = await open(aheadMs)
    await using _ = database
    await check()
    expect(watch.mayRun()).toBe(true)
    expect(lines).toEqual([])
    watch.stop()
  })

  test('because it was just set stops jobs before it is compared again', async () => {
    const { database, clock, watch } = await open(0)
    await using _ = database
    expect(watch.mayRun()).toBe(true)
    clock.aheadMs = 500 * day
    expect(watch.mayRun()).toBe(false)
    clock.aheadMs = 0
    expect(watch.mayRun()).toBe(true)
    watch.stop()
  })

  test('holds back the first round of sweeps, and the jobs that are due', async () => {
    const { database, clock, watch, check } = await open(200_000)
    await using _ = database
    const ran: string[] = []
    const plan: JobPlan = {
      slug: 'publishing',
      queues: [{ name: 'wake', handle: async ({ id }) => void ran.push(id!) }],
      sweeps: [{ name: 'due', everyMs: 20, run: async () => void ran.push('sweep') }],
      log,
    }
    const jobs = createOpenJobs({ openPool: createOpenPool({ url: database.url, log }), mayRun: watch.mayRun })(plan)
    await jobs.start()
    await jobs.enqueue('wake', { id: 'job' })
    expect(ran).toEqual([])
    clock.aheadMs = 0
    await check()
    await until('both ran', () => ran.includes('sweep') && ran.includes('job'))
    await jobs.stop()
    watch.stop()
  })

  test('is not held for wrong because the answer took long, wherever in that time it was read', async () => {
    const clock = createBoundClock(new Date(0))
    const slow = (readAfterMs: number) =>
      watchClock(
        async () => {
          const theirs = clock.now().getTime() + readAfterMs
          clock.advance(70_000)
          return theirs
        },
        log,
        clock,
        () => clock.now().getTime(),
      )
    for (const readAfterMs of [0, 35_000, 70_000, -29_000, 99_000]) await slow(readAfterMs).check()
    for (const readAfterMs of [-31_000, 101_000]) await expect(slow(readAfterMs).check()).rejects.toThrow(/the clock of this machine is 66 s/)
  })

  test('is not held for right before it could be compared, nor for wrong because it cannot be any more', async () => {
    const never = watchClock(() => Promise.reject(new Error('away')), log)
    await expect(never.check()).rejects.toThrow('away')
    expect(never.agrees()).toBe(false)
    const { database, watch, check } = await open(0)
    await database.drop()
    await expect(check()).rejects.toThrow()
    expect(watch.mayRun()).toBe(true)
    watch.stop()
  })
})
