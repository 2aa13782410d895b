import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'

/** What waits in an organization, as counts. */
export interface OverviewCounts {
  readonly unknownOutcomes: number
  readonly refundsAwaitingApproval: number
  readonly openDisputes: number
  readonly deadWebhookEvents: number
  readonly undeliveredCallbacks: number
  readonly settlementBatchesInProgress: number
}

/** How each count is read for organization `$1`; a noun that has no table yet counts nothing: its line here is all that changes. */
const counted: Readonly<Record<keyof OverviewCounts, string>> = {
  unknownOutcomes: `(select count(*)::int from payments.transactions where organization_id = $1 and status = 'UNKNOWN')`,
  refundsAwaitingApproval: `(select count(*)::int from payments.refunds where organization_id = $1 and status = 'AWAITING_APPROVAL')`,
  openDisputes: `(select count(*)::int from payments.disputes where organization_id = $1 and status in ('OPEN', 'UNDER_REVIEW'))`,
  deadWebhookEvents: `(select count(*)::int from payments.webhook_events where organization_id = $1 and status = 'DEAD')`,
  undeliveredCallbacks: `(select count(*)::int from payments.settlement_callbacks where organization_id = $1 and status <> 'DELIVERED')`,
  settlementBatchesInProgress: `(select count(*)::int from payments.settlement_batches where organization_id = $1 and status in ('RECEIVED', 'PROCESSING', 'REVERSING'))`,
}
const counts = statement(
  `select ${Object.entries(counted)
    .map(([name, sql]) => `${sql} as "${name}"`)
    .join(', ')} from (select $1::uuid) organization`,
)
const byStatus = statement('select status, count(*)::int as count from payments.orders where organization_id = $1 group by status')

/** What is counted for the overview of an organization. */
export const overviewStore = {
  open: ({ sequelize, reading }: StoreContext) => ({
    async counts(organizationId: string): Promise<OverviewCounts> {
      const [found] = await rows<OverviewCounts>(sequelize, counts, [organizationId], null, reading)
      return found!
    },

    /** Orders by status; a status that no order has is not among them. */
    orders: (organizationId: string): Promise<{ readonly status: string; readonly count: number }[]> =>
      rows(sequelize, byStatus, [organizationId], null, reading),
  }),
}
