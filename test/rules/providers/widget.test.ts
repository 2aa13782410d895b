import { expect, test } from 'vitest'
import { payload } from '../../../subgraphs/providers/widget/rules.ts'

test('G-11 the widget shows four figures in their order, and leads to credentials that fail', () => {
  const { statistics, items, nextAction, chart } = payload({ credentialsFailing: 0 }, 'https://p.test')
  expect(statistics.map(({ key, value }) => [key, value])).toEqual([
    ['callsToday', 0],
    ['failedCallsToday', 0],
    ['spendThisMonthCents', 0],
    ['credentialsFailing', 0],
  ])
  expect([items, nextAction, chart]).toEqual([[], null, null])
  const url = 'https://p.test/providers/api/credentials'
  expect(payload({ credentialsFailing: 1 }, 'https://p.test')).toMatchObject({ nextAction: { label: 'Look at the credential that fails', url } })
  const two = payload({ credentialsFailing: 2 }, 'https://p.test')
  expect([two.statistics[3]!.value, two.nextAction]).toEqual([2, { label: 'Look at 2 credentials that fail', url }])
})
