import { listBody } from '../../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../../enum-case.ts'
import { tagOfVersion } from '../../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../../row.ts'
import {
  type CreatePostThreadInput,
  type ReorderPostThreadInput,
  RestCreateThreadDocument,
  RestReorderThreadDocument,
  RestThreadDocument,
  type RestThreadQuery,
  RestThreadsDocument,
  type RestThreadsQueryVariables,
} from './thread.generated.ts'

type GraphThread = NonNullable<RestThreadQuery['postThread']>

/** A thread as routes answer it: its posts by their ids, in order. */
const toRest = ({ posts, status, ...thread }: GraphThread) => ({
  ...thread,
  status: status && fromEnum(status),
  postIds: (posts ?? []).flatMap(post => (post ? [post.id] : [])),
})

/** One thread with its version as entity tag, which `If-Match` takes back. Where its posts stand is in the tag too. */
const one = (thread: GraphThread | null | undefined): RowReply | null => {
  if (!thread) return null
  const body = toRest(thread)
  return { headers: { etag: tagOfVersion(thread.version, `${body.status}-${body.postIds.length}`) }, body }
}

export const threadRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/threads',
    operation: RestThreadsDocument,
    query: ['brandId', 'first', 'after'],
    variables: ({ query }) => ({ ...query, first: toInteger(query.first) }) as unknown as RestThreadsQueryVariables,
    reply: ({ postThreads }) => postThreads && { body: listBody('threads', postThreads, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/threads',
    operation: RestCreateThreadDocument,
    body: ['brandId', 'platform', 'title', 'scheduledAt', 'posts'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, platform: toEnum(body.platform), idempotencyKey } as CreatePostThreadInput }),
    reply: ({ createPostThread }) => {
      const made = one(createPostThread)
      return (
        made && {
          ...made,
          status: 201,
          headers: { etag: tagOfVersion(createPostThread!.version), location: `/publishing/api/threads/${createPostThread!.id}` },
        }
      )
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/threads/:id',
    operation: RestThreadDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ postThread }) => one(postThread),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/threads/:id/order',
    operation: RestReorderThreadDocument,
    body: ['postIds'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as ReorderPostThreadInput }),
    reply: ({ reorderPostThread }) => one(reorderPostThread),
  }),
]
