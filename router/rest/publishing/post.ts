import { listBody } from '../derive/list.ts'
import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { tagOfVersion } from '../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../row.ts'
import {
  type CreatePostInput,
  type PostStatus,
  type ResolveDeliveryInput,
  RestCancelPostDocument,
  RestCreatePostDocument,
  RestDeletePostDocument,
  RestPostDocument,
  type RestPostQuery,
  RestPostsDocument,
  type RestPostsQueryVariables,
  RestPublishPostDocument,
  RestResolveDeliveryDocument,
  RestUpdatePostDocument,
  type UpdatePostInput,
} from './post.generated.ts'

type GraphPost = NonNullable<RestPostQuery['post']>

/** A post as routes answer it: the graph's names, enum values in lower case, another post by its id. */
export function toRest({ waitsFor, ...post }: GraphPost) {
  return {
    ...post,
    waitsForId: waitsFor?.id ?? null,
    platform: fromEnum(post.platform),
    status: fromEnum(post.status),
    deliveryPhase: fromEnum(post.deliveryPhase),
    approval: fromEnum(post.approval),
    visibility: post.visibility && fromEnum(post.visibility),
    media: post.media.map(({ asset, altText }) => ({ assetId: asset?.id ?? null, altText })),
    origin: fromEnum(post.origin),
    target: post.target && { ...post.target, kind: fromEnum(post.target.kind) },
    failure: post.failure && { ...post.failure, category: fromEnum(post.failure.category) },
    firstComment: post.firstComment && { ...post.firstComment, status: fromEnum(post.firstComment.status) },
  }
}

/**
 * One post with its version as entity tag, which `If-Match` takes back. A delivery on its way, its own or that of the post it waits
 * for, changes where it stands and not the version, so that stands in the tag too.
 */
export const one = (post: GraphPost | null | undefined): RowReply | null => {
  if (!post) return null
  const passing = [post.deliveryPhase === 'NONE' ? null : fromEnum(post.deliveryPhase), post.waitsUntil, post.waitsFor?.id]
  return { headers: { etag: tagOfVersion(post.version, passing.filter(Boolean).join('-')) }, body: toRest(post) }
}

/** What was asked for is under way. */
const accepted = (reply: RowReply | null): RowReply | null => reply && { ...reply, status: 202 }

const targetOf = (target: unknown) => (typeof target === 'object' && target !== null && 'kind' in target ? { ...target, kind: toEnum(target.kind) } : target)

/** What people write into a post, as the graph takes it. */
export const contentIn = (body: Readonly<Record<string, unknown>>) => ({
  ...body,
  ...('target' in body && { target: targetOf(body.target) }),
  ...('visibility' in body && { visibility: toEnum(body.visibility) }),
})

const contentKeys = ['copy', 'title', 'link', 'tags', 'visibility', 'media', 'firstComment', 'campaignId', 'target'] as const

export const postRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/posts',
    operation: RestPostsDocument,
    query: [
      'brandId',
      'threadId',
      'status',
      'platform',
      'authorId',
      'scheduledAfter',
      'scheduledBefore',
      'approval',
      'deliveryPhase',
      'campaignId',
      'groupId',
      'tag',
      'search',
      'first',
      'after',
    ],
    variables: ({ query }) =>
      ({
        ...query,
        status: toEnum(query.status as PostStatus | undefined),
        platform: toEnum(query.platform),
        approval: toEnum(query.approval),
        deliveryPhase: toEnum(query.deliveryPhase),
        first: toInteger(query.first),
      }) as RestPostsQueryVariables,
    reply: ({ posts }) => posts && { body: listBody('posts', posts, toRest) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts',
    operation: RestCreatePostDocument,
    body: ['brandId', 'platform', 'threadId', 'scheduledAt', ...contentKeys],
    variables: ({ body, idempotencyKey }) => ({
      input: { ...contentIn(body), platform: toEnum(body.platform), idempotencyKey } as CreatePostInput,
    }),
    reply: ({ createPost }) => {
      const made = one(createPost)
      return made && { ...made, status: 201, headers: { ...made.headers, location: `/publishing/api/posts/${createPost!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/posts/:id',
    operation: RestPostDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ post }) => one(post),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/posts/:id',
    operation: RestUpdatePostDocument,
    body: ['scheduledAt', ...contentKeys],
    variables: ({ params, body, expectedVersion }) => ({
      input: { ...contentIn(body), id: params.id!, expectedVersion } as UpdatePostInput,
    }),
    reply: ({ updatePost }) => one(updatePost),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/posts/:id',
    operation: RestDeletePostDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deletePost }) => deletePost && { status: 204 },
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/publish',
    operation: RestPublishPostDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ publishPost }) => accepted(one(publishPost)),
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/cancel',
    operation: RestCancelPostDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ cancelPost }) => one(cancelPost),
  }),
  operationRow({
    method: 'POST',
    path: '/api/posts/:id/resolve',
    operation: RestResolveDeliveryDocument,
    body: ['platformPostId'],
    variables: ({ params, body }) => ({ input: { ...body, id: params.id! } as ResolveDeliveryInput }),
    reply: ({ resolveDelivery }) => one(resolveDelivery),
  }),
]
