import { fromEnum } from '../../enum-case.ts'
import { operationRow, type Row } from '../../row.ts'
import {
  RestBrandAnalyticsDocument,
  type RestBrandAnalyticsQuery,
  type RestBrandAnalyticsQueryVariables,
  RestPostAnalyticsDocument,
  RestRefreshPostAnalyticsDocument,
} from './analytics.generated.ts'

/** Figures of a brand as routes answer them: enum values in lower case. */
const toRest = ({ byPlatform, followers, ...rest }: NonNullable<RestBrandAnalyticsQuery['brandAnalytics']>) => ({
  ...rest,
  byPlatform: byPlatform.map(each => ({ ...each, platform: fromEnum(each.platform) })),
  followers: followers.map(each => ({ ...each, platform: fromEnum(each.platform) })),
})

export const analyticsRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/analytics',
    operation: RestBrandAnalyticsDocument,
    query: ['brandId', 'from', 'to'],
    variables: ({ query }) => query as unknown as RestBrandAnalyticsQueryVariables,
    reply: ({ brandAnalytics }) => brandAnalytics && { body: toRest(brandAnalytics) },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/analytics.csv',
    access: { scope: 'publishing:analytics.read' },
    limit: 0,
    to: 'publishing',
    why: 'own answer',
    tells: [
      {
        name: 'readAnalyticsTable',
        does: 'What networks counted of a brand’s posts, as a table: a row a post, in the order of their publication. What a spreadsheet would run begins with an apostrophe.',
        query: { brandId: 'The brand.', from: 'From this moment on, as in RFC 3339.', to: 'And before this one, 366 days at most.' },
        refuses: [404],
        answers: { 200: { description: 'A table of RFC 4180 with a header.', type: 'text/csv', schema: { type: 'string' } } },
      },
    ],
  },
  operationRow({
    method: 'GET',
    path: '/api/posts/:id/analytics',
    operation: RestPostAnalyticsDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ postAnalytics }) => postAnalytics && { body: postAnalytics },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/analytics/refresh',
    operation: RestRefreshPostAnalyticsDocument,
    body: [],
    mayBeEmpty: true,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ refreshPostAnalytics }) => refreshPostAnalytics && { body: refreshPostAnalytics },
  }),
]
