import { operationRow, type Row } from '../../row.ts'
import { type DeletePostsInput, type ReschedulePostsInput, RestDeletePostsDocument, RestReschedulePostsDocument } from '../post.generated.ts'
import { toRest } from '../post.ts'

/** The posts that are meant, each with the version that it may be at, as the graph takes them. */
const itemsIn = (items: unknown): unknown => (Array.isArray(items) ? items.map(itemIn) : itemIn(items))

function itemIn(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const { version, ...rest } = item as Record<string, unknown>
  return { ...rest, ...(version !== undefined && { expectedVersion: version }) }
}

export const bulkRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/posts/bulk/reschedule',
    operation: RestReschedulePostsDocument,
    body: ['items'],
    variables: ({ body }) => ({ input: { ...body, items: itemsIn(body.items) } as unknown as ReschedulePostsInput }),
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
    variables: ({ body }) => ({ input: { ...body, items: itemsIn(body.items) } as unknown as DeletePostsInput }),
    reply: ({ deletePosts }) => deletePosts && { body: deletePosts },
  }),
]
