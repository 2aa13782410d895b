import { operationRow, type Row } from '../../row.ts'
import { type DeletePostsInput, type ReschedulePostsInput, RestDeletePostsDocument, RestReschedulePostsDocument } from '../post.generated.ts'
import { toRest } from '../post.ts'

export const bulkRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/posts/bulk/reschedule',
    operation: RestReschedulePostsDocument,
    body: ['items'],
    variables: ({ body }) => ({ input: body as unknown as ReschedulePostsInput }),
    reply: ({ reschedulePosts }) =>
      reschedulePosts && {
        body: { ...reschedulePosts, results: reschedulePosts.results.map(({ post, ...result }) => ({ ...result, post: post ? toRest(post) : null })) },
      },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/bulk/delete',
    operation: RestDeletePostsDocument,
    body: ['items'],
    variables: ({ body }) => ({ input: body as unknown as DeletePostsInput }),
    reply: ({ deletePosts }) => deletePosts && { body: deletePosts },
  }),
]
