import { nounRoutes } from '../../derive/route.ts'
import type { Row } from '../../row.ts'

export const analyticsRows: readonly Row[] = [
  ...nounRoutes({
    select: {
      BrandAnalytics: `
        brandId from to totals byPlatform { platform sums } byDay { day sums } topPosts { postId figures }
        followers { connectionId platform count day change }`,
      PostAnalytics: 'postId latest snapshots',
      AnalyticsSums: 'posts impressions likes comments shares clicks videoViews',
      AnalyticsSnapshot: 'at impressions likes comments shares clicks videoViews',
    },
    routes: {
      'GET /api/analytics': 'brandAnalytics',
      'GET /api/posts/:id/analytics': 'postAnalytics',
      'POST /api/posts/:id/analytics/refresh': { run: 'refreshPostAnalytics', mayBeEmpty: true },
    },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/analytics.csv',
    access: { scope: 'publishing:analytics.read' },
    limit: 0,
    to: 'publishing',
    why: 'own answer',
    describes: [
      {
        name: 'readAnalyticsTable',
        does: 'Exports the networks’ figures of a brand’s posts: one row for each post, in the order of publication. Cells that a spreadsheet would execute begin with an apostrophe.',
        query: { brandId: 'The brand.', from: 'From this moment on, as in RFC 3339.', to: 'And before this one, 366 days at most.' },
        refuses: [404],
        answers: { 200: { description: 'A table of RFC 4180 with a header.', type: 'text/csv', schema: { type: 'string' } } },
      },
    ],
  },
]
