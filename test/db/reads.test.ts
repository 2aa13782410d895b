import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rows, statement } from '../../platform/sql/statement.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 2 })
})
afterAll(() => database.drop())

const echo = statement('select $1::int as n, pg_backend_pid() as pid')
const divided = statement('select 1 / $1::int as n')
const slow = statement('select pg_sleep($1::float8)')

const read = (n: number) => rows<{ n: number; pid: number }>(database.sequelize, echo, [n])

/** How many connections were taken from the pool meanwhile. */
async function taken(work: () => Promise<unknown>): Promise<number> {
  const pool = (database.sequelize as unknown as { connectionManager: { getConnection(): unknown } }).connectionManager
  const spy = vi.spyOn(pool, 'getConnection')
  try {
    await work()
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

test('reads of one turn go out together, four over a connection, and each is answered its own', async () => {
  let answers: { n: number; pid: number }[] = []
  const connections = await taken(async () => {
    answers = (await Promise.all(Array.from({ length: 6 }, (_, n) => read(n)))).map(([row]) => row!)
  })
  expect(answers.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5])
  expect(connections).toBe(2)
  expect(new Set(answers.slice(0, 4).map(({ pid }) => pid)).size).toBe(1)
})

test('one that fails fails alone, and is told as the errors of writes are', async () => {
  const [before, failed, after] = await Promise.allSettled([read(1), rows(database.sequelize, divided, [0]), read(2)])
  expect([before, after]).toMatchObject([{ value: [{ n: 1 }] }, { value: [{ n: 2 }] }])
  expect(failed).toMatchObject({ status: 'rejected', reason: { name: 'SequelizeDatabaseError', parent: { code: '22012' } } })
  expect(await read(3)).toMatchObject([{ n: 3 }])
})

test('a connection that is lost fails what was on its way, and the next read goes over another', async () => {
  const lost = Promise.allSettled([rows(database.sequelize, slow, [30]), read(1)])
  await expect
    .poll(
      async () =>
        (await database.sequelize.query(`select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()`))[0]
          .length,
    )
    .toBeGreaterThan(0)
  expect(await lost).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(await read(2)).toMatchObject([{ n: 2 }])
})

test('a read in a transaction sees what it has written', async () => {
  await database.sequelize.transaction(async transaction => {
    await database.sequelize.query('create temporary table written on commit drop as select 7 as n', { transaction })
    expect(await rows(database.sequelize, statement('select n from written'), [], transaction)).toEqual([{ n: 7 }])
  })
})

describe('a statement that every connection knows and none can run any more', () => {
  /** @param change what happens to the table once it is known */
  async function outdate(table: string, change: string) {
    const reading = statement(`select value from ${table}`)
    await database.sequelize.query(`create table ${table} as select 7 as value`)
    const readAll = () => Promise.all(Array.from({ length: 6 }, () => rows<{ value: unknown }>(database.sequelize, reading, [])))
    await readAll()
    await database.sequelize.query(change)
    return { reading, readAll }
  }
  const retyped = (table: string) => outdate(table, `alter table ${table} alter column value type text using 'seven'`)

  test('because a migration changed its columns is parsed anew, and the reads are answered', async () => {
    const { readAll } = await retyped('retyped')
    expect((await readAll()).flat()).toEqual(Array(6).fill({ value: 'seven' }))
  })

  test('fails the transaction that it is met in, and no other', async () => {
    const { reading } = await retyped('retyped_again')
    const readOne = () => database.sequelize.transaction(transaction => rows(database.sequelize, reading, [], transaction))
    await expect(readOne()).rejects.toMatchObject({ name: 'SequelizeDatabaseError', parent: { code: '0A000' } })
    expect(await Promise.all([readOne(), readOne()])).toEqual(Array(2).fill([{ value: 'seven' }]))
  })

  test('because the server forgot it is parsed anew', async () => {
    const { readAll } = await outdate('forgotten', 'select 1')
    await Promise.all([1, 2].map(() => database.sequelize.transaction(transaction => database.sequelize.query('deallocate all', { transaction }))))
    expect((await readAll()).flat()).toEqual(Array(6).fill({ value: 7 }))
  })
})
