import { expect, test } from 'vitest'
import { payload } from '../../../subgraphs/payments/widget/rules.ts'

test('Y-04 the widget shows four figures in their order, and nothing waits for anybody while nothing is paid', () => {
  const { statistics, items, nextAction, chart } = payload({ ordersToday: 3 })
  expect(statistics.map(({ key, value }) => [key, value])).toEqual([
    ['ordersToday', 3],
    ['paidToday', 0],
    ['refundsAwaitingApproval', 0],
    ['openDisputes', 0],
  ])
  expect([items, nextAction, chart]).toEqual([[], null, null])
})
