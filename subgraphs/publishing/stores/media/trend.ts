import type { Transaction } from 'sequelize'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, table, texts, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'

/** A stored trend. */
export interface KeptTrend {
  readonly id: string
  readonly topic: string
  readonly summary: string
  readonly source: string | null
  readonly url: string | null
  readonly score: number | null
  /** Time in ISO 8601. */
  readonly observedAt: string
  readonly mentionsEarlierYear: boolean
}

export const trendReports = table('publishing.trend_reports', {
  brandId: uuid.key,
  trends: json.of<readonly KeptTrend[]>().or([]),
  /** Null until trends were first fetched. */
  fetchedAt: moment.maybe,
  expiresAt: moment.maybe,
  /** Times of the refreshes that people requested within the last hour, ISO 8601. */
  refreshed: texts.or([]),
})

export type TrendReportRow = Row<typeof trendReports>

const columns = selectList(trendReports, 'r')
const ofBrands = statement(`select ${columns} from publishing.trend_reports r where r.brand_id = any($1::uuid[])`)
const begin = statement('insert into publishing.trend_reports (brand_id) values ($1) on conflict (brand_id) do nothing')
const lock = statement(`select ${columns} from publishing.trend_reports r where r.brand_id = $1 for update`)
const counted = statement('update publishing.trend_reports set refreshed = $2 where brand_id = $1')
const keep = statement(`update publishing.trend_reports r set trends = $2::jsonb, fetched_at = $3, expires_at = $4 where r.brand_id = $1 returning ${columns}`)

export const trendReportStore = {
  table: trendReports,
  lists: {},
  open: ({ sequelize, reading }: StoreContext) => ({
    /** Loads reports by the brand's id, without a check: the caller must have checked the right to the brand. */
    of: createLoader<string, TrendReportRow | null>(reading, async ids => {
      const found = new Map((await rows<TrendReportRow>(sequelize, ofBrands, [ids])).map(row => [row.brandId, row]))
      return ids.map(id => found.get(id) ?? null)
    }),
    /** Locks the report of a brand until the transaction ends, and creates a missing one. */
    async lock(brandId: string, transaction: Transaction): Promise<TrendReportRow> {
      await rows(sequelize, begin, [brandId], transaction)
      const [row] = await rows<TrendReportRow>(sequelize, lock, [brandId], transaction)
      return row!
    },
    /** Stores the times of requested refreshes. */
    count: async (brandId: string, refreshed: readonly string[], transaction: Transaction): Promise<void> =>
      void (await rows(sequelize, counted, [brandId, refreshed], transaction)),
    async keep(brandId: string, trends: readonly KeptTrend[], fetchedAt: Date, expiresAt: Date, transaction: Transaction): Promise<TrendReportRow> {
      await rows(sequelize, begin, [brandId], transaction)
      const [row] = await rows<TrendReportRow>(sequelize, keep, [brandId, JSON.stringify(trends), fetchedAt, expiresAt], transaction)
      return row!
    },
  }),
}
