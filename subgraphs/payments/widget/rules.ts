import type { WidgetFacts } from '../stores/widget.ts'

/**
 * The widget of payments: counts of the day, declined payments to look at, and refunds that wait as the next thing to do. Disputes are counted
 * once there are records of them.
 * @param publicUrl origin under which people reach the platform
 */
export const payload = ({ ordersToday, paidToday, refundsAwaitingApproval, failed }: WidgetFacts, publicUrl: string) => ({
  statistics: [
    { key: 'ordersToday', label: 'Orders today', value: ordersToday },
    { key: 'paidToday', label: 'Paid today', value: paidToday },
    { key: 'refundsAwaitingApproval', label: 'Refunds to approve', value: refundsAwaitingApproval },
    { key: 'openDisputes', label: 'Open disputes', value: 0 },
  ],
  items: failed.map(({ id, number, at }) => ({ id, title: `Payment of order ${number} failed`, at, url: `${publicUrl}/payments/api/orders/${id}` })),
  nextAction: refundsAwaitingApproval > 0 ? { label: 'Decide on refunds', url: `${publicUrl}/payments/api/refunds?status=awaiting_approval` } : null,
  chart: null,
})
