import { rows, statement } from '../../../platform/sql/statement.ts'
import { createEachLoader } from '../../store/loader.ts'
import type { StoreContext } from '../../store/store.ts'

/** What the widget counts. */
export interface WidgetFacts {
  readonly callsToday: number
  readonly failedCallsToday: number
  /** What this month's calls cost in micro-dollars, as digits. */
  readonly spentMicros: string
  readonly credentialsFailing: number
  /** Of the hard limits that are half used or more the one nearest its end; null where there is none. */
  readonly nearestLimit: string | null
}

/** Today, and this month, begin in UTC; of a limit whose period is over nothing is used any more. */
const count = statement(
  `select today."callsToday", today."failedCallsToday", month."spentMicros", failing."credentialsFailing", nearest.id as "nearestLimit"
     from (select count(*)::int as "callsToday", count(*) filter (where status = 'FAILED')::int as "failedCallsToday"
             from providers.calls where organization_id = $1 and created_at >= $2) today
    cross join (select coalesce(sum(cost_micros), 0)::text as "spentMicros" from providers.calls where organization_id = $1 and created_at >= $3) month
    cross join (select count(*)::int as "credentialsFailing" from providers.credentials where organization_id = $1 and status = 'FAILING') failing
     left join lateral (
       select id from providers.spend_limits
        where organization_id = $1 and hard_limit_micros > 0 and spent_micros * 2 >= hard_limit_micros
          and (period = 'TOTAL' or (period = 'DAY' and since >= $2) or (period = 'MONTH' and since >= $3))
        order by spent_micros::numeric / hard_limit_micros desc, id limit 1) nearest on true`,
)

/** What the widgets of organizations show: under several aliases it is counted once. */
export const widgetStore = {
  open: ({ sequelize, reading, clock }: StoreContext) => ({
    facts: createEachLoader<string, WidgetFacts>(reading, async organizationId => {
      const now = clock.now()
      const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
      const [today, firstOfMonth] = [new Date(Date.UTC(year, month, now.getUTCDate())), new Date(Date.UTC(year, month))]
      const [row] = await rows<WidgetFacts>(sequelize, count, [organizationId, today, firstOfMonth])
      return row!
    }),
  }),
}
