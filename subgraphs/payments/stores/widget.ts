import { dayOf } from '../../../platform/clock.ts'
import { rows, statement } from '../../../platform/sql/statement.ts'
import { createEachLoader } from '../../store/loader.ts'
import type { Opening } from '../../store/store.ts'

/** What the widget counts. */
export interface WidgetFacts {
  readonly ordersToday: number
}

const countOrders = statement('select count(*)::int as "ordersToday" from payments.orders where organization_id = $1 and created_at >= $2')

/** What the widgets of organizations show: under several aliases it is counted once. Days are UTC's. */
export const widgetStore = {
  open: ({ sequelize, reading, clock }: Opening) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const [row] = await rows<WidgetFacts>(sequelize, countOrders, [organizationId, dayOf(clock.now()).from])
      return row!
    }),
  }),
}
