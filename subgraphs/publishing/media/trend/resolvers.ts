import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { type BrandRow, requireInUse } from '../../stores/brand.ts'
import type { TrendReportRow } from '../../stores/media/trend.ts'
import { askModels } from '../asking.ts'
import { FindTrendsDocument } from './ask.generated.ts'
import { itemsIn, keptMs, questionOf, refreshes, responseFormat, trendsOf } from './rules.ts'

/** Finds trends with a model, and stores the report. @throws DomainError */
async function find(context: Context, brand: BrandRow): Promise<TrendReportRow> {
  const { clock, trendReports } = context
  const { system, user } = questionOf(brand, clock.now())
  const messages = [
    { role: 'SYSTEM' as const, content: system },
    { role: 'USER' as const, content: user },
  ]
  const { createCompletion } = await askModels(context, FindTrendsDocument, { input: { messages, responseFormat, maxOutputTokens: 4_000 } })
  const items = itemsIn(createCompletion?.content ?? null)
  if (!items) throw new DomainError('UPSTREAM_FAILED', 'The model did not answer a list of trends: try again.')
  return inTransaction(context, ({ now, transaction }) =>
    trendReports.keep(
      brand.id,
      trendsOf(items, now, () => newId(now)),
      now,
      new Date(now.getTime() + keptMs),
      transaction,
    ),
  )
}

/** Counts a refresh against the limit. @throws RATE_LIMITED */
const admit = (context: Context, brandId: string): Promise<void> =>
  inTransaction(context, async ({ now, transaction }) => {
    const { refreshed } = await context.trendReports.lock(brandId, transaction)
    const recent = refreshed.filter(at => now.getTime() - Date.parse(at) < refreshes.windowMs)
    if (recent.length >= refreshes.most) {
      const retryAfter = Math.ceil((Date.parse(recent[0]!) + refreshes.windowMs - now.getTime()) / 1000)
      throw new DomainError('RATE_LIMITED', `Trends were found anew ${refreshes.most} times within an hour: go on in ${retryAfter} seconds.`, { retryAfter })
    }
    await context.trendReports.count(brandId, [...recent, now.toISOString()], transaction)
  })

export const trendResolvers: Resolvers = {
  Query: {
    async trends(_, { brandId }, context) {
      const brand = await context.brands.require(brandId, 'brandId')
      const kept = await context.trendReports.of.load(brand.id)
      if (kept?.expiresAt && kept.expiresAt > context.clock.now()) return kept
      // Concurrent callers share the same report.
      const known = context.findingTrends.get(brand.id)
      if (known) return known
      const finding = find(context, brand).finally(() => context.findingTrends.delete(brand.id))
      context.findingTrends.set(brand.id, finding)
      return finding
    },
  },
  Mutation: {
    async refreshTrends(_, { input }, context) {
      const brand = await context.brands.require(input.brandId, 'brandId')
      requireInUse(brand)
      await admit(context, brand.id)
      return find(context, brand)
    },
  },
  TrendReport: {
    trends: ({ brandId, trends }) => trends.map(trend => ({ ...trend, brandId, observedAt: new Date(trend.observedAt) })),
    fetchedAt: ({ fetchedAt }) => fetchedAt!,
    expiresAt: ({ expiresAt }) => expiresAt!,
  },
}
