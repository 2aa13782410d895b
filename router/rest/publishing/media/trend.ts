import { operationRow, type Row, type RowInput, type RowReply } from '../../row.ts'
import {
  type RefreshTrendsInput,
  RestRefreshTrendsAsServiceDocument,
  RestRefreshTrendsDocument,
  type RestRefreshTrendsMutation,
  RestTrendsDocument,
} from './trend.generated.ts'

/** What both doors to the one handler take and answer. */
const refreshing = {
  method: 'POST',
  body: ['brandId'],
  variables: ({ body }: RowInput) => ({ input: body as unknown as RefreshTrendsInput }),
  reply: ({ refreshTrends }: RestRefreshTrendsMutation): RowReply | null => refreshTrends && { body: refreshTrends },
} as const

export const trendRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/trends',
    operation: RestTrendsDocument,
    query: ['brandId'],
    variables: ({ query }) => ({ brandId: query.brandId! }),
    reply: ({ trends }) => trends && { body: trends },
  }),
  operationRow({ ...refreshing, path: '/api/trends/refresh', operation: RestRefreshTrendsDocument }),
  operationRow({ ...refreshing, path: '/api/internal/trends/refresh', operation: RestRefreshTrendsAsServiceDocument, policy: 'service' }),
]
