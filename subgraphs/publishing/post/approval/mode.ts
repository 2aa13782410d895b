import { record, type WriteTransaction, writeFacts } from '../../../store/books.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { factsOf } from '../../news/announce.ts'
import type { BrandRow } from '../../stores/brand.ts'
import type { PostRow } from '../../stores/post.ts'
import { keepEvent } from '../../stores/posts/approval.ts'
import { eachOfApproval } from '../../stores/posts/of-brand.ts'
import { wakeIfFree } from './decide.ts'
import { approvalIn } from './rules.ts'

/**
 * Moves a brand's posts to where its new approval mode has them, in the transaction that changes it.
 * @returns the posts that moved, to be announced after the commit
 */
export async function followMode(context: Context, before: BrandRow, after: BrandRow, unit: WriteTransaction): Promise<readonly PostRow[]> {
  if (before.approvalMode === after.approvalMode || after.approvalMode === 'OPTIONAL') return []
  const moved: PostRow[] = []
  const { posts, publicUrl, viewer } = context
  const { now, transaction } = unit
  await eachOfApproval(posts, after.id, after.approvalMode === 'REQUIRED' ? 'NONE' : 'PENDING', transaction, async post => {
    const approval = approvalIn(post, after.approvalMode)
    if (approval === post.approval) return
    const changed = await posts.update(post, { approval, version: post.version + 1, updatedAt: now }, transaction)
    await keepEvent(posts, changed, { at: now, action: 'RESET', comment: null, createdBy: actorOf(viewer) }, transaction)
    await record(context, { tenantId: post.brandId, action: 'post.approval-reset', subjectId: post.id, details: { version: changed.version } }, unit)
    await writeFacts(context, factsOf(post, changed, { organizationId: after.organizationId, publicUrl }), unit)
    await wakeIfFree(context, changed, unit)
    moved.push(changed)
  })
  return moved
}
