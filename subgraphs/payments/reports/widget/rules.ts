import { mostItems, type WidgetFacts } from '../../stores/widget.ts'

/**
 * The widget of payments: counts of the day, open disputes and declined payments to look at, and refunds that wait as the next thing to do, or
 * else the dispute whose time ends first.
 * @param publicUrl origin under which people reach the platform
 */
export function payload({ ordersToday, paidToday, refundsAwaitingApproval, openDisputes, failed, disputed }: WidgetFacts, publicUrl: string) {
  const api = `${publicUrl}/payments/api`
  const disputes = disputed.map(({ id, number, at }) => ({ id, title: `Payment of order ${number} is disputed`, at, url: `${api}/disputes/${id}` }))
  const failures = failed.map(({ id, number, at }) => ({ id, title: `Payment of order ${number} failed`, at, url: `${api}/orders/${id}` }))
  const dispute = disputes[0] && { label: 'Answer the dispute', url: disputes[0].url }
  return {
    statistics: [
      { key: 'ordersToday', label: 'Orders today', value: ordersToday },
      { key: 'paidToday', label: 'Paid today', value: paidToday },
      { key: 'refundsAwaitingApproval', label: 'Refunds to approve', value: refundsAwaitingApproval },
      { key: 'openDisputes', label: 'Open disputes', value: openDisputes },
    ],
    items: [...disputes, ...failures].slice(0, mostItems),
    nextAction: refundsAwaitingApproval > 0 ? { label: 'Decide on refunds', url: `${api}/refunds?status=awaiting_approval` } : (dispute ?? null),
    chart: null,
  }
}
