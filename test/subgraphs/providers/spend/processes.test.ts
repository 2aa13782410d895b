import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { modelOf } from '../../../../platform/sql/table.ts'
import { spendLimits } from '../../../../subgraphs/providers/stores/spend/limit.ts'
import { createTestDatabase, type TestDatabase } from '../../../kit/database.ts'
import { openSpender, type SpenderTask } from './spender.ts'

/** A process that spends, and what it has said so far. */
interface Spender {
  readonly child: ChildProcess
  readonly said: readonly string[]
  readonly ended: Promise<unknown>
  /** Resolves once it has said so many lines that begin so. */
  hears(word: string, count: number): Promise<void>
}

function start(task: SpenderTask): Spender {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'spender.ts'), JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  const lines = createInterface(child.stdout!)
  lines.on('line', line => said.push(line))
  return {
    child,
    said,
    ended: Promise.all([once(child, 'exit'), once(lines, 'close')]),
    hears: (word, count) =>
      expect.poll(() => said.filter(line => line.startsWith(word)).length, { timeout: 20_000, interval: 2 }).toBeGreaterThanOrEqual(count),
  }
}

const kinds = (spenders: readonly Spender[], word: string) => spenders.flatMap(({ said }) => said.filter(line => line.startsWith(word)))

interface Stage {
  readonly database: TestDatabase
  readonly organizationId: string
  rows<Row>(sql: string): Promise<Row[]>
  books(): Promise<{ readonly spent: number; readonly reserved: number; readonly hard: number; readonly logged: number; readonly running: number }>
}

/** An organization with a hard limit of so much. */
async function stage(database: TestDatabase, hardLimitMicros: bigint): Promise<Stage> {
  const organizationId = newId()
  const now = new Date()
  await modelOf(database.sequelize, spendLimits).create({
    ...{ id: newId(), level: 'ORGANIZATION', organizationId, tenantId: organizationId, scopeType: 'ORGANIZATION', scopeValue: organizationId, period: 'TOTAL' },
    ...{ hardLimitMicros, since: now, createdAt: now, updatedAt: now, createdBy: 'test' },
  })
  const rows = async <Row>(sql: string) => (await database.sequelize.query(sql))[0] as Row[]
  return {
    database,
    organizationId,
    rows,
    books: async () =>
      (
        await rows<{ spent: number; reserved: number; hard: number; logged: number; running: number }>(
          `select l.spent_micros::int as spent, l.reserved_micros::int as reserved, l.hard_limit_micros::int as hard, c.logged, c.running
             from providers.spend_limits l, (select coalesce(sum(cost_micros), 0)::int as logged, (count(*) filter (where status = 'RUNNING'))::int as running
               from providers.calls) c`,
        )
      )[0]!,
  }
}

const task = ({ database, organizationId }: Stage, more: Partial<SpenderTask> = {}): SpenderTask => ({
  ...{ url: database.url, organizationId, calls: 500, upper: 1000, isExact: true, lastsMs: 20, crashAt: null },
  ...more,
})

/** Looks at the books again and again while others write them, until it is asked for what it saw or disposed. */
function watch({ books }: Stage) {
  let over = false
  const seen: number[] = []
  const watching = (async () => {
    while (!over) {
      const { spent, reserved, hard } = await books()
      seen.push(spent + reserved - hard)
    }
  })()
  const end = async () => {
    over = true
    await watching
    return seen
  }
  return Object.assign(end, { [Symbol.asyncDispose]: async () => void (await end()) })
}

/** What nobody has ended is freed a quarter of an hour later. */
async function later({ database }: Stage): Promise<void> {
  await using opened = openSpender({ url: database.url, aheadMs: 16 * 60_000 })
  for (const sweep of opened.spending.sweeps) await sweep.run()
}

describe('G-04 processes that spend at the same time', () => {
  test('1,000 calls of two processes against a limit that covers 100 at a fixed price: exactly 100, and the books equal the log', async () => {
    await using database = await createTestDatabase()
    const place = await stage(database, 100_000n)
    await using ends = watch(place)
    const spenders = [start(task(place)), start(task(place))]
    await Promise.all(spenders.map(({ ended }) => ended))
    const seen = await ends()
    expect([kinds(spenders, 'settled').length, kinds(spenders, 'refused').length]).toEqual([100, 900])
    expect(await place.books()).toEqual({ spent: 100_000, reserved: 0, hard: 100_000, logged: 100_000, running: 0 })
    expect(Math.max(...seen)).toBeLessThanOrEqual(0)
    expect(await place.rows('select status, count(*)::int as count from providers.calls group by 1 order by 1')).toEqual([
      { status: 'REFUSED', count: 900 },
      { status: 'SUCCEEDED', count: 100 },
    ])
  }, 60_000)

  test('with estimates, spent and reserved amounts together never exceed the limit', async () => {
    await using database = await createTestDatabase()
    const place = await stage(database, 100_000n)
    await using ends = watch(place)
    const spenders = [start(task(place, { isExact: false })), start(task(place, { isExact: false, upper: 777 }))]
    await Promise.all(spenders.map(({ ended }) => ended))
    const seen = await ends()
    const { spent, reserved, logged } = await place.books()
    const paid = kinds(spenders, 'settled').reduce((sum, line) => sum + Number(line.split(' ')[2]), 0)
    expect([spent, reserved, logged]).toEqual([paid, 0, paid])
    expect(kinds(spenders, 'settled').length).toBeGreaterThan(100)
    expect(Math.max(...seen)).toBeLessThanOrEqual(0)
  }, 60_000)

  test('with one killed: nothing is lost or doubled, and its reservations are released after a quarter of an hour', async () => {
    await using database = await createTestDatabase()
    const place = await stage(database, 100_000n)
    await using ends = watch(place)
    const killed = start(task(place, { isExact: false, lastsMs: 400 }))
    // The other one could spend everything before a process that starts slowly.
    await killed.hears('begun', 1)
    const other = start(task(place, { isExact: false, lastsMs: 400 }))
    await killed.hears('settled', 10)
    killed.child.kill('SIGKILL')
    await Promise.all([killed.ended, other.ended])
    const between = await place.books()
    await Promise.all([later(place), later(place), later(place)])
    const after = await place.books()
    const seen = await ends()
    expect([after.spent, after.reserved, after.running]).toEqual([after.logged, 0, 0])
    expect(between.spent + between.reserved).toBeLessThanOrEqual(between.hard)
    expect(Math.max(...seen)).toBeLessThanOrEqual(0)
    // Whatever either process was told is true.
    const logged = new Map(
      (await place.rows<{ id: string; cost: number | null; status: string }>('select id, cost_micros::int as cost, status from providers.calls')).map(row => [
        row.id,
        row,
      ]),
    )
    for (const line of kinds([killed, other], 'settled')) {
      const [, id, cost] = line.split(' ')
      expect(logged.get(id!)).toEqual({ id, cost: Number(cost), status: 'SUCCEEDED' })
    }
    for (const line of kinds([killed, other], 'begun')) expect(logged.has(line.split(' ')[1]!)).toBe(true)
  }, 60_000)

  test('with sequential calls, written one by one: exact as well', async () => {
    await using database = await createTestDatabase()
    const place = await stage(database, 100_000n)
    await using ends = watch(place)
    const inTurn = { inTurn: true, lastsMs: 1 }
    const spenders = [
      start(task(place, { ...inTurn, calls: 120 })),
      start(task(place, { ...inTurn, calls: 120 })),
      start(task(place, { ...inTurn, calls: 30 })),
    ]
    await Promise.all(spenders.map(({ ended }) => ended))
    const seen = await ends()
    expect([kinds(spenders, 'settled').length, kinds(spenders, 'refused').length]).toEqual([100, 170])
    expect(await place.books()).toEqual({ spent: 100_000, reserved: 0, hard: 100_000, logged: 100_000, running: 0 })
    expect(Math.max(...seen)).toBeLessThanOrEqual(0)
  }, 60_000)

  test('and dies while many calls are written together, leaves the books as the log', async () => {
    await using database = await createTestDatabase()
    const place = await stage(database, 1_000_000n)
    const spender = start(task(place, { calls: 40, crashAt: 'books-written' }))
    await spender.ended
    expect(spender.child.signalCode).toBe('SIGKILL')
    await later(place)
    const { spent, reserved, logged, running } = await place.books()
    expect([spent, reserved, running]).toEqual([logged, 0, 0])
  }, 30_000)

  test.each([
    ['before-call-begins', 0, []],
    ['call-begun', 0, ['FAILED 0']],
    ['before-call-is-settled', 0, ['FAILED 0']],
    ['call-settled', 1000, ['SUCCEEDED 1000']],
  ] as const)(
    'and dies at “%s”, leaves the books as the log',
    async (crashAt, spent, calls) => {
      await using database = await createTestDatabase()
      const place = await stage(database, 10_000n)
      const spender = start(task(place, { calls: 1, crashAt }))
      await spender.ended
      expect(spender.child.signalCode).toBe('SIGKILL')
      await later(place)
      expect(await place.books()).toMatchObject({ spent, reserved: 0, logged: spent, running: 0 })
      expect(
        (await place.rows<{ status: string; cost: number }>('select status, cost_micros::int as cost from providers.calls')).map(
          ({ status, cost }) => `${status} ${cost}`,
        ),
      ).toEqual(calls)
    },
    30_000,
  )
})
