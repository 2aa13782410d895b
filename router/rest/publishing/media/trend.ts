import { nounRoutes } from '../../derive/route.ts'

export const trendRows = nounRoutes({
  select: {
    TrendReport: 'trends { id brandId topic summary source url score observedAt mentionsEarlierYear } fetchedAt expiresAt',
  },
  routes: {
    'GET /api/trends': 'trends',
    'POST /api/trends/refresh': 'refreshTrends',
    'POST /api/internal/trends/refresh': { run: 'refreshTrends', name: 'refreshTrendsAsService', policy: 'service' },
  },
})
