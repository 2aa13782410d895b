import { Refusal } from '../../../../platform/errors.ts'
import { personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, RestorePostVersionInput } from '../../resolvers.generated.ts'
import type { PostRow } from '../../stores/post.ts'
import { contentOf, type PostVersionRow } from '../../stores/posts/version.ts'
import { changePost } from '../change.ts'

/** The states of a post's content, the newest first; of one that was last written before they were kept, the present one. */
async function versionsOf({ aboutPosts }: Context, post: PostRow): Promise<readonly PostVersionRow[]> {
  const kept = await aboutPosts.versions.load(post)
  if (kept.length > 0) return kept
  const { brandId, id: postId, version, updatedAt: createdAt, createdBy } = post
  return [{ ...contentOf(post), brandId, postId, version, createdAt, createdBy }]
}

/** Puts an earlier content back, as an edit does: the network's rules, approval and versions see to it alike. */
async function restore(context: Context, { id, version, expectedVersion }: RestorePostVersionInput): Promise<PostRow> {
  const post = await context.posts.require(id)
  const wanted = (await versionsOf(context, post)).find(each => each.version === version)
  if (!wanted) throw new Refusal('NOT_FOUND', `No version ${version} of the post is kept: choose one of its versions.`, { field: 'version', id: post.id })
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
