import { type AddressInfo, createServer, connect as dial, Socket } from 'node:net'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connect } from '../../db/connect.ts'
import { DomainError } from '../../platform/errors.ts'
import { Batch } from '../../platform/sql/batch.ts'
import { rows, statement } from '../../platform/sql/statement.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 2 })
})
afterAll(() => database.drop())

/** Time stands still: what is quick is what no test makes slow. */
let now = 0
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => vi.restoreAllMocks())

const echo = statement('select $1::int as n, pg_backend_pid() as pid')
const divided = statement('select 1 / $1::int as n')
const slow = statement('select pg_sleep($1::float8)')

const read = (n: number) => rows<{ n: number; pid: number }>(database.sequelize, echo, [n])

/** How many statements went out together meanwhile, for each time in order. */
async function sent(work: () => Promise<unknown>): Promise<number[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    return (spy.mock.calls as unknown[][]).flatMap(([asked]) => (asked instanceof Batch ? [asked.statements.length] : []))
  } finally {
    spy.mockRestore()
  }
}

/** What the connections that run a slow statement answer to a question about them. */
const ofSlow = async (asked: string) =>
  (await database.sequelize.query(`select ${asked} from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()`))[0]

/** Ends a slow statement, by the function of PostgreSQL that is named, once it runs. */
async function endSlow(by: 'pg_terminate_backend' | 'pg_cancel_backend'): Promise<void> {
  await expect.poll(async () => (await ofSlow('pid')).length).toBe(1)
  // Long enough to count as slow.
  now += 250
  await ofSlow(`${by}(pid)`)
}

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

test('reads of one turn are sent together, four over a connection, and each gets its own answer', async () => {
  let answers: { n: number; pid: number }[] = []
  const connections = await taken(async () => {
    answers = (await Promise.all(Array.from({ length: 6 }, (_, n) => read(n)))).map(([row]) => row!)
  })
  expect(answers.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5])
  expect(connections).toBe(2)
  expect(new Set(answers.slice(0, 4).map(({ pid }) => pid)).size).toBe(1)
})

test('reads that are known to be quick are answered together', async () => {
  await read(0)
  expect(await sent(() => Promise.all(Array.from({ length: 6 }, (_, n) => read(n))))).toEqual([4, 2])
})

test('a failing read fails alone, with the same errors as writes', async () => {
  // First each read is answered separately, then all together: reads in a batch with a failing one are repeated.
  for (let times = 0; times < 3; times++) {
    const [before, failed, after, again] = await Promise.allSettled([
      read(1),
      rows(database.sequelize, divided, [0]),
      rows(database.sequelize, divided, ['nothing']),
      read(2),
    ])
    expect([before, again]).toMatchObject([{ value: [{ n: 1 }] }, { value: [{ n: 2 }] }])
    expect(failed).toMatchObject({ status: 'rejected', reason: { name: 'SequelizeDatabaseError', parent: { code: '22012' } } })
    expect(after).toMatchObject({ status: 'rejected', reason: { name: 'SequelizeDatabaseError', parent: { code: '22P02' } } })
  }
  expect(await read(3)).toMatchObject([{ n: 3 }])
})

test('a slow read delays only its own caller', async () => {
  await read(0)
  const long = rows(database.sequelize, statement('select pg_sleep($1::float8) as never_quick'), [30])
  const refused = expect(long).rejects.toMatchObject({ parent: { code: '57014' } })
  expect(await read(1)).toMatchObject([{ n: 1 }])
  await endSlow('pg_cancel_backend')
  await refused
})

test('a statement that became slow is answered separately the next time', async () => {
  await rows(database.sequelize, slow, [0])
  await read(0)
  const late = sent(() => Promise.allSettled([rows(database.sequelize, slow, [30]), read(1)]))
  await endSlow('pg_cancel_backend')
  expect(await late).toEqual([2, 1])
  expect(await sent(() => Promise.all([rows(database.sequelize, slow, [0]), read(1)]))).toEqual([1, 1])
  expect(await sent(() => Promise.all([rows(database.sequelize, slow, [0]), read(1)]))).toEqual([2])
})

describe('reads of different organizations', () => {
  const gone = new AbortController()
  const of = (party: string) => ({ party, read() {}, signal: gone.signal })
  const readOf = (party: string, n: number) => rows<{ n: number; pid: number }>(database.sequelize, echo, [n], null, of(party))

  test('never share a connection, so that none waits for the rows of another', async () => {
    await read(0)
    const both = () => Promise.all([readOf('a', 1), readOf('b', 2), readOf('a', 3)])
    expect((await both()).map(([row]) => row!.n)).toEqual([1, 2, 3])
    expect(await sent(both)).toEqual([2, 1])
    expect(await taken(both)).toBe(2)
  })

  test('leave half of the connections to others, however many of one wait and however slow they are', async () => {
    const held = Promise.allSettled(Array.from({ length: 12 }, () => rows(database.sequelize, slow, [30], null, of('slow'))))
    await expect.poll(async () => (await ofSlow('pid')).length).toBe(1)
    expect(await Promise.all([readOf('a', 1), readOf('b', 2)])).toMatchObject([[{ n: 1 }], [{ n: 2 }]])
    gone.abort(new Error('nobody waits'))
    await endSlow('pg_cancel_backend')
    const outcomes = (await held).map(outcome => (outcome as PromiseRejectedResult).reason.message)
    // The others were never sent: nobody waited for them when their turn came.
    expect(outcomes.filter(message => message !== 'nobody waits')).toEqual(['canceling statement due to user request'])
  })
})

test('a connection reads a long answer in pieces, and the answer is complete', async () => {
  const spy = vi.spyOn(Socket.prototype, 'pause')
  const megabytes = statement("select repeat('x', 1048576) as text from generate_series(1, $1::int)")
  try {
    const found = await rows<{ text: string }>(database.sequelize, megabytes, [8])
    expect(found.map(({ text }) => text.length)).toEqual(Array(8).fill(1_048_576))
    expect(spy.mock.calls.length).toBeGreaterThan(20)
  } finally {
    spy.mockRestore()
  }
})

test('values are sent as by pg, and returned as by Sequelize, integers beyond 32 bits exactly', async () => {
  const kinds = statement(`select $1::text[] as texts, $2::jsonb as json, $3::timestamptz as at, $4::int as missing, $5::boolean as yes, $6::bytea as bytes,
    $7::bigint as large, 1.5::numeric as exact`)
  const values = [['a "b"', 'c\\d', null, '{}', ''], { a: ['ä'] }, new Date('2026-03-01T12:00:00.250Z'), null, true, Buffer.from([0, 255]), '9007199254740993']
  const [texts, json, at, missing, yes, bytes, large] = values
  expect(await rows(database.sequelize, kinds, values)).toEqual([{ texts, json, at, missing, yes, bytes, large: BigInt(large as string), exact: '1.5' }])
})

describe('counting what is read for an operation', () => {
  const texts = statement("select repeat('x', 100) as text, jsonb_build_object('of', repeat('y', 100)) as json, null as none from generate_series(1, $1::int)")
  // With the braces, the name and the quotes around it.
  const rowOf = 100 + '{"of": ""}'.length + 100
  const operation = (most: number) => {
    const held = { characters: 0, told: 0 }
    const reading = {
      signal: new AbortController().signal,
      read(characters: number) {
        held.characters += characters
        held.told += 1
        if (held.characters > most) throw new DomainError('BAD_USER_INPUT', 'too much')
      },
    }
    return { held, readSome: (count: number) => rows<{ text: string }>(database.sequelize, texts, [count], null, reading) }
  }

  test('reports row by row, with JSON as text', async () => {
    const { held, readSome } = operation(Number.POSITIVE_INFINITY)
    expect(await readSome(3)).toHaveLength(3)
    expect(held).toEqual({ characters: 3 * rowOf, told: 3 })
  })

  test('ends the statement at the operation’s limit, which then holds nothing; other reads of the batch are answered', async () => {
    const [small, large] = [operation(10 * rowOf), operation(10 * rowOf)]
    await Promise.all([small.readSome(1), large.readSome(1)])
    const [answered, refused] = await Promise.allSettled([small.readSome(5), large.readSome(10_000), read(7)])
    expect(answered).toMatchObject({ status: 'fulfilled', value: { length: 5 } })
    expect(refused).toMatchObject({ status: 'rejected', reason: { message: 'too much', extensions: { code: 'BAD_USER_INPUT' } } })
    // Its eleventh row was the last of which anybody was told, before what it had read was taken back.
    expect(large.held).toEqual({ characters: rowOf, told: 1 + 10 + 1 })
    expect(small.held.characters).toBe(6 * rowOf)
  })

  test('rejects NUL as the mistake of its sender', async () => {
    const named = statement('select $1::text as word')
    for (const value of ['a\0b', ['a', '\0']])
      await expect(rows(database.sequelize, named, [value])).rejects.toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
  })
})

test('fails the running reads of a lost connection, and sends the next read over another one', async () => {
  await rows(database.sequelize, slow, [0])
  const lost = Promise.allSettled([rows(database.sequelize, slow, [30]), read(1)])
  await endSlow('pg_terminate_backend')
  expect(await lost).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(await read(2)).toMatchObject([{ n: 2 }])
})

test('a connection that the server ends is lent to nobody else', async () => {
  const leave = statement('select pg_terminate_backend(pg_backend_pid())')
  for (let turn = 0; turn < 5; turn++) {
    // Sent after the server's notice, before the socket is closed.
    expect(await rows(database.sequelize, leave, []).catch(() => read(turn))).toMatchObject([{ n: turn }])
  }
})

test('a read in a transaction sees the transaction’s writes', async () => {
  await database.sequelize.transaction(async transaction => {
    await database.sequelize.query('create temporary table written on commit drop as select 7 as n', { transaction })
    expect(await rows(database.sequelize, statement('select n from written'), [], transaction)).toEqual([{ n: 7 }])
  })
})

describe('over a connection where the server', () => {
  /** Opens one connection on which what the server says can be changed on its way. */
  async function heard() {
    const { port, hostname } = new URL(database.url)
    const relay = { says: (words: Buffer) => words }
    const server = createServer(near => {
      const far = dial(Number(port), hostname)
      for (const socket of [near, far]) socket.on('error', () => {}).on('close', () => [near, far].map(each => each.destroy()))
      near.pipe(far)
      far.on('data', (words: Buffer) => near.write(relay.says(words)))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(database.url)
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { sequelize, close } = connect({ url: url.href, poolSize: 1, log: pino({ level: 'silent' }) })
    return {
      relay,
      read: (n: number) => rows<{ n: number; pid: number }>(sequelize, echo, [n]),
      divide: (by: number) => rows(sequelize, divided, [by]),
      async [Symbol.asyncDispose]() {
        await close()
        server.close()
      },
    }
  }

  test('uses another language, an error still affects its statement only', async () => {
    await using connection = await heard()
    const [before] = await connection.read(1)
    await connection.divide(1)
    connection.relay.says = words => Buffer.from(words.toString('latin1').replace('SERROR\0', 'SFEHLR\0'), 'latin1')
    const [failed, after] = await Promise.allSettled([connection.divide(0), connection.read(2)])
    expect(failed).toMatchObject({ reason: { parent: { severity: 'FEHLR', code: '22012' } } })
    expect(after).toMatchObject({ value: [{ n: 2, pid: before!.pid }] })
    expect(await connection.read(3)).toMatchObject([{ pid: before!.pid }])
  })

  test('sends unrequested messages, no read receives the answer of another', async () => {
    await using connection = await heard()
    const [before] = await connection.read(1)
    const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
    connection.relay.says = words => Buffer.concat([ready, words])
    await expect(connection.read(2)).rejects.toThrow('the database answered what was not asked')
    connection.relay.says = words => words
    const [after] = await connection.read(3)
    expect(after!.n).toBe(3)
    expect(after!.pid).not.toBe(before!.pid)
  })
})

describe('a prepared statement that has become invalid on every connection', () => {
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

  test('fails the transaction in which it is found, and no other', async () => {
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
