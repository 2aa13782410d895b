import type { WriteTransaction } from '../../store/books.ts'
import { record, writeFacts } from '../../store/books.ts'
import { change } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { noClaim, noFailure, noWait } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import { announcePost, factsOf } from '../news/announce.ts'
import type { PauseBrandInput, ResumeBrandInput } from '../resolvers.generated.ts'
import type { BrandRow } from '../stores/brand.ts'
import type { PostRow } from '../stores/post.ts'
import { eachOverdue } from '../stores/posts/of-brand.ts'
import { pause, resume } from './rules.ts'

/** Pauses a brand, so that deliveries that have not begun yet wait. */
export const pauseBrand = (context: Context, { id, expectedVersion }: PauseBrandInput): Promise<BrandRow> =>
  change(context, {
    of: context.brands,
    id,
    expectedVersion,
    decide: (brand, { now }) => pause(brand, now),
    audit: ({ after }) => ({ tenantId: id, action: 'brand.paused', subjectId: id, details: { version: after.version } }),
  })

/**
 * Resumes a brand. Posts that became due meanwhile are woken up, or turned into drafts, in the same transaction, so
 * that none is sent in between.
 */
export function resumeBrand(context: Context, { id, overdue, expectedVersion }: ResumeBrandInput): Promise<BrandRow> {
  const changed: PostRow[] = []
  return change(context, {
    of: context.brands,
    id,
    expectedVersion,
    decide: resume,
    audit: ({ after }) => ({ tenantId: id, action: 'brand.resumed', subjectId: id, details: { version: after.version, overdue } }),
    async wake({ after }, unit) {
      await eachOverdue(context.posts, after.id, unit.now, unit.transaction, async post => {
        if (overdue === 'SEND') await wakeUp(context.jobs, post, unit.now, unit.transaction)
        else changed.push(await revert(context, after, post, unit))
      })
    },
    announce({ after }) {
      for (const post of changed) announcePost(context.events, after, post)
    },
  })
}

async function revert(context: Context, { organizationId }: BrandRow, post: PostRow, unit: WriteTransaction): Promise<PostRow> {
  const { posts, jobs, publicUrl } = context
  const { now, transaction } = unit
  const draft = { status: 'DRAFT', scheduledAt: null, version: post.version + 1, updatedAt: now } as const
  const after = await posts.update(post, { ...noClaim, ...noFailure, ...noWait, ...draft }, transaction)
  await record(context, { tenantId: post.brandId, action: 'post.reverted', subjectId: post.id, details: { version: after.version } }, unit)
  await writeFacts(context, factsOf(post, after, { organizationId, publicUrl }), unit)
  await letSleep(jobs, after, transaction)
  return after
}
