import { rows, statement } from '../../../platform/sql/statement.ts'
import { createEachLoader } from '../../store/loader.ts'
import type { Opening } from '../../store/store.ts'

/** What the widget counts. */
export interface WidgetFacts {
  readonly credentialsFailing: number
}

const countFailing = statement(`select count(*)::int as "credentialsFailing" from providers.credentials where organization_id = $1 and status = 'FAILING'`)

/** What the widgets of organizations show: under several aliases it is counted once. */
export const widgetStore = {
  open: ({ sequelize, reading }: Opening) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const [row] = await rows<WidgetFacts>(sequelize, countFailing, [organizationId])
      return row!
    }),
  }),
}
