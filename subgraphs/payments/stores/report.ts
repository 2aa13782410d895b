import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'

/** Dimensions by which a report groups its rows, besides the currency. */
export type ReportGrouping = 'DAY' | 'MERCHANT' | 'VENUE' | 'CURRENCY'

/** One row of a report: amounts in minor units, as digits. */
export interface ReportSums {
  /** A day such as `2027-03-01`, an id, or a currency; null for orders without a venue. */
  readonly key: string | null
  readonly currency: string
  readonly orders: string
  readonly capturedMinor: string
  readonly refundedMinor: string
  readonly disputedMinor: string
}

/** A span of time, cut into whole days of UTC, which sums are kept of, and what lies before and behind them. */
export interface Span {
  /** As `2027-03-01`; the second is not part of it. Equal where there is no whole day. */
  readonly days: readonly [string, string]
  /** Parts of days: from a moment on, and before another. */
  readonly edges: readonly [readonly [Date, Date], readonly [Date, Date]]
}

/** What is read. */
export interface Wanted {
  readonly organizationId: string
  readonly merchantId: string | null
  readonly span: Span
  /** How many rows at most. */
  readonly limit: number
}

const noVenue = '00000000-0000-0000-0000-000000000000'

const keys: Readonly<Record<ReportGrouping, string>> = {
  DAY: 's.day::text',
  MERCHANT: 's.merchant_id::text',
  VENUE: `nullif(s.venue_id::text, '${noVenue}')`,
  CURRENCY: 's.currency',
}
const edge = (from: string, to: string) =>
  `select (e.posted_at at time zone 'UTC')::date as day, e.merchant_id, coalesce(o.venue_id, '${noVenue}') as venue_id, e.currency,
          e.orders, e.captured_minor, e.refunded_minor, e.disputed_minor
     from payments.order_sums e left join payments.orders o on o.merchant_id = e.merchant_id and o.id = e.order_id
    where e.organization_id = $1 and e.posted_at >= ${from} and e.posted_at < ${to}`
const sums = `
  select day, merchant_id, venue_id, currency, orders, captured_minor, refunded_minor, disputed_minor
    from payments.daily_sums where organization_id = $1 and day >= $3::date and day < $4::date
  union all ${edge('$5', '$6')} union all ${edge('$7', '$8')}`
const reportBy = (grouping: ReportGrouping) =>
  statement(
    `select ${keys[grouping]} as key, s.currency, sum(s.orders)::bigint::text as orders, sum(s.captured_minor)::bigint::text as "capturedMinor",
       sum(s.refunded_minor)::bigint::text as "refundedMinor", sum(s.disputed_minor)::bigint::text as "disputedMinor"
       from (${sums}) s where $2::uuid is null or s.merchant_id = $2
      group by 1, 2 order by 1 nulls last, 2 limit $9`,
  )
const reports: Readonly<Record<ReportGrouping, ReturnType<typeof statement>>> = {
  DAY: reportBy('DAY'),
  MERCHANT: reportBy('MERCHANT'),
  VENUE: reportBy('VENUE'),
  CURRENCY: reportBy('CURRENCY'),
}

const attempts = statement(
  `select status, failure_code as code, count(*)::int as count from payments.transactions
    where organization_id = $1 and type in ('PURCHASE', 'AUTHORIZE') and created_at >= $2 and created_at < $3 group by 1, 2`,
)

/** What became of payments that were tried, as far as it is alike. */
export interface Attempts {
  readonly status: string
  /** Why they failed. */
  readonly code: string | null
  readonly count: number
}

/** Sums over what happened in an organization. The tenant is part of each statement. */
export const reportStore = {
  open: ({ sequelize, reading }: StoreContext) => ({
    /** Adds up what was taken, given back and disputed: whole days from the sums that are kept of them, the rest from the ledger. */
    sums: (grouping: ReportGrouping, { organizationId, merchantId, span, limit }: Wanted): Promise<ReportSums[]> =>
      rows(sequelize, reports[grouping], [organizationId, merchantId, ...span.days, ...span.edges.flat(), limit], null, reading),

    /** Counts payments that were tried from a moment on and before another, by what became of them. */
    attempts: (organizationId: string, from: Date, to: Date): Promise<Attempts[]> => rows(sequelize, attempts, [organizationId, from, to], null, reading),
  }),
}
