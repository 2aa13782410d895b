import { expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { createTestDatabase } from '../../../kit/database.ts'
import { tcpProxy } from '../../../kit/tcp-proxy.ts'
import { ended, order, seedLimit } from './seed.ts'
import { openSpender } from './spender.ts'

/** Calls that have begun, and a database that is away when they end. */
async function callsThatEndWithoutDatabase({ isLimited, count }: { readonly isLimited: boolean; readonly count: number }) {
  const stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase())
  const organizationId = newId()
  if (isLimited) await seedLimit({ clock: { now: () => new Date() }, database }, { organizationId, hardLimitMicros: 100_000n })
  const proxy = stack.use(await tcpProxy(database.url))
  const { spending } = stack.use(openSpender({ url: proxy.url }))
  const calls = await Promise.all(Array.from({ length: count }, () => spending.calls.begin({ organizationId, userId: null, appId: 'app_test' }, order(600n))))
  proxy.refuse(true)
  proxy.cut()
  await Promise.all(calls.map(call => call.settle(ended(510n))))
  const read = async <Row>(sql: string) => (await database.sequelize.query(sql))[0] as Row[]
  return {
    spending,
    back: () => proxy.refuse(false),
    books: async () => [
      ...(await read<object>('select status, count(*)::int as count, sum(cost_micros)::int as cost from providers.calls group by 1')),
      ...(await read<object>('select spent_micros::int as spent, reserved_micros::int as reserved from providers.spend_limits')),
    ],
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test.each([
  ['that a limit holds', true, 1, [{ spent: 510, reserved: 0 }]],
  ['that nothing limits', false, 1, []],
  ['of which there are many', true, 50, [{ spent: 25_500, reserved: 0 }]],
] as const)('G-04 the end of a call %s is written when the database is back: what it cost is booked, and nobody waits for that', async (_what, isLimited, count, limits) => {
  await using place = await callsThatEndWithoutDatabase({ isLimited, count })
  expect(await place.books()).toMatchObject([{ status: 'RUNNING', count, cost: null }, ...limits.map(() => ({ spent: 0, reserved: 600 * count }))])
  place.back()
  await expect.poll(place.books, { timeout: 20_000, interval: 50 }).toEqual([{ status: 'SUCCEEDED', count, cost: 510 * count }, ...limits])
})

test('G-04 a stopping process waits for calls whose callers it has just disconnected, and books them', async () => {
  await using database = await createTestDatabase()
  await using spender = openSpender({ url: database.url })
  const call = await spender.spending.calls.begin({ organizationId: newId(), userId: null, appId: 'app_test' }, order(600n))
  const stopped = spender.spending.stop()
  setTimeout(() => void call.settle({ ...ended(0n), status: 'ABORTED' }), 20)
  await stopped
  expect((await database.sequelize.query('select status from providers.calls'))[0]).toEqual([{ status: 'ABORTED' }])
})

test('G-04 a stopping process tries once more to store its calls’ costs', async () => {
  await using place = await callsThatEndWithoutDatabase({ isLimited: true, count: 3 })
  place.back()
  await place.spending.stop()
  expect(await place.books()).toEqual([
    { status: 'SUCCEEDED', count: 3, cost: 1530 },
    { spent: 1530, reserved: 0 },
  ])
})
