import { DomainError } from '../../../../platform/errors.ts'
import { personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, RestorePostVersionInput } from '../../resolvers.generated.ts'
import type { PostRow } from '../../stores/post.ts'
import { contentOf, type PostVersionRow } from '../../stores/posts/version.ts'
import { changePost } from '../change.ts'

/**
 * Returns the versions of a post's content, the newest first; only the present one for a post that was last changed
 * before versions existed.
 */
async function versionsOf({ aboutPosts }: Context, post: PostRow): Promise<readonly PostVersionRow[]> {
  const kept = await aboutPosts.versions.load(post)
  if (kept.length > 0) return kept
  const { brandId, id: postId, version, updatedAt: createdAt, createdBy } = post
  return [{ ...contentOf(post), brandId, postId, version, createdAt, createdBy }]
}

/** Restores an earlier version of the content by an edit, to which the network's rules, approval and versions apply. */
async function restore(context: Context, { id, version, expectedVersion }: RestorePostVersionInput): Promise<PostRow> {
  const post = await context.posts.require(id)
  const wanted = (await versionsOf(context, post)).find(each => each.version === version)
  if (!wanted) throw new DomainError('NOT_FOUND', `No version ${version} of the post is kept: choose one of its versions.`, { field: 'version', id: post.id })
  const { copy, title, link, visibility, media, firstComment, target } = contentOf(wanted)
  return changePost(context, { id, expectedVersion, copy, title, link, media, firstComment, target, ...(visibility && { visibility }) })
}

export const versionResolvers: Resolvers = {
  Mutation: { restorePostVersion: (_, { input }, context) => restore(context, input) },
  Post: { versions: (post, _, context) => versionsOf(context, post) },
  PostVersion: {
    author: ({ createdBy }) => {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
    mediaIds: ({ media }) => media.map(({ assetId }) => assetId),
  },
}
