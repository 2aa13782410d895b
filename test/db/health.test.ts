import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { QueryTypes } from 'sequelize'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate, migrationCheck } from '../../db/migrate.ts'
import { watchSchema } from '../../db/schema-watch.ts'
import { createWriteProbe } from '../../db/write-probe.ts'
import { createTestDatabase } from '../kit/database.ts'

const log = pino({ level: 'silent' })

describe('a database that a newer program moved on', () => {
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

  test('is not this program’s any more: it says so, and its jobs stand still; and again when it is moved back', async () => {
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
    watch.stop()
  })

  test('stays this program’s when the newer migration says that it is compatible', async () => {
    const { database, watch } = await open('-- compatible: a table that nobody needs yet\ncreate table later (id text)')
    await using _ = database
    expect(await migrate({ url: database.url, directory: newer, log })).toEqual(['shop/0002_later.sql'])
    await watch.check()
    expect(watch.isOurs()).toBe(true)
    expect(await migrate({ url: database.url, directory: older, log })).toEqual([])
    watch.stop()
  })

  test('is not held for foreign because it cannot be asked', async () => {
    const { database, watch } = await open('')
    await database.drop()
    await expect(watch.check()).rejects.toThrow()
    expect(watch.isOurs()).toBe(true)
    watch.stop()
  })

  test('whose books are of a version that knew no compatible ones is read as before', async () => {
    const { database, watch } = await open('select 1')
    await using _ = database
    await database.sequelize.query('alter table migrations.applied drop column compatible')
    await watch.check()
    expect(await migrate({ url: database.url, directory: newer, log })).toEqual(['shop/0002_later.sql'])
    watch.stop()
  })
})

describe('a database that takes no writes', () => {
  test('is told apart from one that does, at most five seconds later', async () => {
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

  test('needs a new page of the disk at each look', async () => {
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
