import type { WidgetFacts } from '../stores/widget.ts'

/** The widget of payments. What is paid, refunded or disputed is counted once there are records of it. */
export const payload = ({ ordersToday }: WidgetFacts) => ({
  statistics: [
    { key: 'ordersToday', label: 'Orders today', value: ordersToday },
    { key: 'paidToday', label: 'Paid today', value: 0 },
    { key: 'refundsAwaitingApproval', label: 'Refunds to approve', value: 0 },
    { key: 'openDisputes', label: 'Open disputes', value: 0 },
  ],
  items: [],
  nextAction: null,
  chart: null,
})
