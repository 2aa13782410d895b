import { expect, test } from 'vitest'
import { supergraph } from '../../../kit/supergraph.ts'
import { createOrder } from '../documents.ts'

test('Y-04 the widget counts the orders of the day in UTC, of its own organization alone, and is told when one is written', async () => {
  await using graph = await supergraph({ now: '2027-03-01T23:59:58.000Z' })
  const { owner, outsider } = await graph.seed.owner().outsider()
  const input = { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1 }] }
  const shown = async (as = owner) =>
    (await graph.execute('{ paymentsWidget { statistics { key value } items { id } nextAction { url } } }', {}, { as })).data().paymentsWidget
  const values = async (as = owner) => (await shown(as)).statistics.map(({ value }: { value: number }) => value)
  const live = await graph.subscribe('subscription { widgetUpdated { app payload { statistics { value } } } }', {}, { as: owner })
  await graph.execute(createOrder, { input }, { as: owner })
  expect(await shown()).toEqual({
    statistics: [
      { key: 'ordersToday', value: 1 },
      { key: 'paidToday', value: 0 },
      { key: 'refundsAwaitingApproval', value: 0 },
      { key: 'openDisputes', value: 0 },
    ],
    items: [],
    nextAction: null,
  })
  const told = () => JSON.stringify(live.events)
  await expect.poll(told).toContain('{"widgetUpdated":{"app":"payments","payload":{"statistics":[{"value":1}')
  await live.end()
  expect(await values(outsider)).toEqual([0, 0, 0, 0])
  await graph.clock.advance(2000)
  expect(await values()).toEqual([0, 0, 0, 0])
})
