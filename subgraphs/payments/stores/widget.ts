import { dayOf } from '../../../platform/clock.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import { createEachLoader } from '../../store/loader.ts'
import type { StoreContext } from '../../store/store.ts'

/** How many items a widget shows. */
export const mostItems = 5

/** What the widget counts. */
export interface WidgetFacts {
  readonly ordersToday: number
  /** Orders whose money was taken today. */
  readonly paidToday: number
  readonly refundsAwaitingApproval: number
  /** Disputes that are not decided. */
  readonly openDisputes: number
  /** Those of them whose time for evidence ends first. */
  readonly disputed: readonly { readonly id: string; readonly number: string; readonly at: Date }[]
  /** Payments of today that were declined, the latest first. */
  readonly failed: readonly { readonly id: string; readonly number: string; readonly at: Date }[]
}

const count = statement(
  `select (select count(*)::int from payments.orders where organization_id = $1 and created_at >= $2) as "ordersToday",
     (select count(*)::int from payments.orders where organization_id = $1 and paid_at >= $2) as "paidToday",
     (select count(*)::int from payments.refunds where organization_id = $1 and status = 'AWAITING_APPROVAL') as "refundsAwaitingApproval",
     (select count(*)::int from payments.disputes where organization_id = $1 and status in ('OPEN', 'UNDER_REVIEW')) as "openDisputes"`,
)
const failedToday = statement(
  `select id, number, updated_at as at from payments.orders
    where organization_id = $1 and status = 'FAILED' and updated_at >= $2 order by updated_at desc limit ${mostItems}`,
)

const disputed = statement(
  `select d.id, o.number, coalesce(d.evidence_due_by, d.opened_at) as at
     from payments.disputes d join payments.orders o on o.merchant_id = d.merchant_id and o.id = d.order_id
    where d.organization_id = $1 and d.status in ('OPEN', 'UNDER_REVIEW') order by d.evidence_due_by nulls last, d.id limit ${mostItems}`,
)

/** What the widgets of organizations show: under several aliases it is counted once. Days are UTC's. */
export const widgetStore = {
  open: ({ sequelize, reading, clock }: StoreContext) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const whose = [organizationId, dayOf(clock.now()).from]
      const [[counts], failed, open] = await Promise.all([
        rows<Omit<WidgetFacts, 'failed' | 'disputed'>>(sequelize, count, whose),
        rows<WidgetFacts['failed'][number]>(sequelize, failedToday, whose),
        rows<WidgetFacts['disputed'][number]>(sequelize, disputed, [organizationId]),
      ])
      return { ...counts!, failed, disputed: open }
    }),
  }),
}
