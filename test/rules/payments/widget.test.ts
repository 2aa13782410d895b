import { expect, it } from 'vitest'
import { payload } from '../../../subgraphs/payments/reports/widget/rules.ts'

const quiet = { ordersToday: 3, paidToday: 2, refundsAwaitingApproval: 0, openDisputes: 0, failed: [], disputed: [] }

it('shows four figures in their order, and nothing to do while nothing waits', () => {
  const { statistics, items, nextAction, chart } = payload(quiet, 'https://pay.example')
  expect(statistics.map(({ key, value }) => [key, value])).toEqual([
    ['ordersToday', 3],
    ['paidToday', 2],
    ['refundsAwaitingApproval', 0],
    ['openDisputes', 0],
  ])
  expect([items, nextAction, chart]).toEqual([[], null, null])
})

it('shows payments that failed today, and refunds that wait as the next thing to do', () => {
  const at = new Date(0)
  const { items, nextAction } = payload({ ...quiet, refundsAwaitingApproval: 1, failed: [{ id: 'o', number: '000007', at }] }, 'https://pay.example')
  expect(items).toEqual([{ id: 'o', title: 'Payment of order 000007 failed', at, url: 'https://pay.example/payments/api/orders/o' }])
  expect(nextAction).toEqual({ label: 'Decide on refunds', url: 'https://pay.example/payments/api/refunds?status=awaiting_approval' })
})

it('shows open disputes before failed payments, five items in all, and the first dispute as the next thing to do when no refund waits', () => {
  const at = new Date(0)
  const [disputed, failed] = ['d', 'o'].map(id => Array.from({ length: 3 }, (_, index) => ({ id: `${id}${index}`, number: '000007', at })))
  const { items, nextAction } = payload({ ...quiet, openDisputes: 3, disputed: disputed!, failed: failed! }, 'https://pay.example')
  expect(items.map(({ id }) => id)).toEqual(['d0', 'd1', 'd2', 'o0', 'o1'])
  expect(items[0]).toMatchObject({ title: 'Payment of order 000007 is disputed' })
  expect(nextAction).toEqual({ label: 'Answer the dispute', url: 'https://pay.example/payments/api/disputes/d0' })
})
