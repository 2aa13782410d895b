import { dayOf } from '../../../../platform/clock.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { createEachLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'

/** How many items a widget shows. */
export const mostItems = 5

/** What the widget counts. */
export interface WidgetFacts {
  readonly activeFlows: number
  readonly pendingTasks: number
  readonly pendingApprovals: number
  readonly runsToday: number
  /** Approvals that wait, the first to expire first. */
  readonly pending: readonly { readonly id: string; readonly title: string; readonly at: Date }[]
  /** The task that is due first, those without a date last. */
  readonly nextTask: { readonly id: string; readonly title: string } | null
}

const count = statement(
  `select (select count(*)::int from agents.workflows where organization_id = $1 and status = 'PUBLISHED') as "activeFlows",
     (select count(*)::int from agents.tasks where organization_id = $1 and status in ('OPEN', 'IN_PROGRESS')) as "pendingTasks",
     (select count(*)::int from agents.approvals where organization_id = $1 and status = 'PENDING') as "pendingApprovals",
     (select count(*)::int from agents.runs where organization_id = $1 and created_at >= $2 and trigger <> 'TEST') as "runsToday"`,
)
const firstPending = statement(
  `select id, title, expires_at as at from agents.approvals where organization_id = $1 and status = 'PENDING' order by expires_at limit ${mostItems}`,
)
const firstDue = statement(
  `select id, title from agents.tasks where organization_id = $1 and status in ('OPEN', 'IN_PROGRESS') order by due_at, created_at limit 1`,
)

/** What the widgets of organizations show: under several aliases it is counted once. Days are UTC's. */
export const widgetStore = {
  open: ({ sequelize, reading, clock }: StoreContext) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const [[counts], pending, [nextTask]] = await Promise.all([
        rows<Omit<WidgetFacts, 'pending' | 'nextTask'>>(sequelize, count, [organizationId, dayOf(clock.now()).from]),
        rows<WidgetFacts['pending'][number]>(sequelize, firstPending, [organizationId]),
        rows<NonNullable<WidgetFacts['nextTask']>>(sequelize, firstDue, [organizationId]),
      ])
      return { ...counts!, pending, nextTask: nextTask ?? null }
    }),
  }),
}
