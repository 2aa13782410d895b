import { crash } from '../../../platform/crash.ts'
import { remove } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { letSleep } from '../delivery/wake-up.ts'
import { announcePost, factsOf } from '../news/announce.ts'
import type { DeletePostInput } from '../resolvers.generated.ts'
import type { PostRow } from '../stores/post.ts'
import { move } from './rules.ts'

/** Deletes a post that is not published; posts that waited for it in its thread continue. */
export async function deletePost(context: Context, { id, expectedVersion }: DeletePostInput): Promise<PostRow> {
  const { brands, posts, threads, events, jobs, publicUrl } = context
  const { brandId } = await posts.require(id)
  const brand = await brands.require(brandId)
  return remove(context, {
    of: posts,
    id,
    expectedVersion,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    decide: post => void move(post, 'delete'),
    audit: ({ status }) => ({ tenantId: brandId, action: 'post.deleted', subjectId: id, details: { status } }),
    facts: post => factsOf(post, null, { organizationId: brand.organizationId, publicUrl }),
    async wake(post, { transaction }) {
      if (post.status === 'SCHEDULED') await letSleep(jobs, post, transaction)
      await posts.release(await posts.successor(post, transaction), transaction)
      await threads.forgetIfEmpty(brandId, post.threadId, transaction)
      crash('in-post-deletion')
    },
    announce: post => announcePost(events, brand, post),
  })
}
