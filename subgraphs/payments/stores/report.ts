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

/** How a dimension is grouped: as the sums of days have it, as entries of the ledger have it, and as text at the end. */
interface Dimension {
  readonly day: string
  readonly entry: string
  readonly text: string
  /** Whether an entry has it by its order only. */
  readonly ofOrder?: true
}

// Grouped as it is stored and written as text at the end: a text of each of ten thousands of rows costs more than all the sums.
const dimensions: Readonly<Record<ReportGrouping, Dimension>> = {
  DAY: { day: 'd.day', entry: `(e.posted_at at time zone 'UTC')::date`, text: 's.key::text' },
  MERCHANT: { day: 'd.merchant_id', entry: 'e.merchant_id', text: 's.key::text' },
  VENUE: { day: 'd.venue_id', entry: `coalesce(o.venue_id, '${noVenue}')`, text: `nullif(s.key::text, '${noVenue}')`, ofOrder: true },
  CURRENCY: { day: 'd.currency', entry: 'e.currency', text: 's.key' },
}

const amounts = ['orders', 'captured_minor', 'refunded_minor', 'disputed_minor'] as const
const addedUp = (table: string) => amounts.map(amount => `sum(${table}.${amount})::bigint as ${amount}`).join(', ')

/** Sums of whole days, and of the parts of days before and behind them. @param ofMerchant whether only one merchant's count */
function reportBy({ day, entry, text, ofOrder }: Dimension, ofMerchant: boolean) {
  const only = (table: string) => (ofMerchant ? ` and ${table}.merchant_id = $9` : '')
  const order = ofOrder ? ' left join payments.orders o on o.merchant_id = e.merchant_id and o.id = e.order_id' : ''
  const edge = (from: string, to: string) =>
    `select ${entry} as key, e.currency, ${addedUp('e')} from payments.order_sums e${order}
      where e.organization_id = $1 and e.posted_at >= ${from} and e.posted_at < ${to}${only('e')} group by 1, 2`
  return statement(
    `select ${text} as key, s.currency, sum(s.orders)::text as orders, sum(s.captured_minor)::text as "capturedMinor",
       sum(s.refunded_minor)::text as "refundedMinor", sum(s.disputed_minor)::text as "disputedMinor"
       from (
         select ${day} as key, d.currency, ${addedUp('d')} from payments.daily_sums d
          where d.organization_id = $1 and d.day >= $2::date and d.day < $3::date${only('d')} group by 1, 2
         union all ${edge('$4', '$5')} union all ${edge('$6', '$7')}
       ) s group by s.key, s.currency order by 1 nulls last, 2 limit $8`,
  )
}
const bothBy = (dimension: Dimension) => ({ ofAll: reportBy(dimension, false), ofOne: reportBy(dimension, true) })
const reports: Readonly<Record<ReportGrouping, ReturnType<typeof bothBy>>> = {
  DAY: bothBy(dimensions.DAY),
  MERCHANT: bothBy(dimensions.MERCHANT),
  VENUE: bothBy(dimensions.VENUE),
  CURRENCY: bothBy(dimensions.CURRENCY),
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
    sums(grouping: ReportGrouping, { organizationId, merchantId, span, limit }: Wanted): Promise<ReportSums[]> {
      const given = [organizationId, ...span.days, ...span.edges.flat(), limit]
      const { ofAll, ofOne } = reports[grouping]
      return merchantId ? rows(sequelize, ofOne, [...given, merchantId], null, reading) : rows(sequelize, ofAll, given, null, reading)
    },

    /** Counts payments that were tried from a moment on and before another, by what became of them. */
    attempts: (organizationId: string, from: Date, to: Date): Promise<Attempts[]> => rows(sequelize, attempts, [organizationId, from, to], null, reading),
  }),
}
