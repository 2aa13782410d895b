import type { WriteTransaction } from '../../../store/books.ts'
import { change } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { wakeUp } from '../../delivery/wake-up.ts'
import { announcePost, factsOf } from '../../news/announce.ts'
import type { DecidePostInput, SubmitPostInput } from '../../resolvers.generated.ts'
import type { ApprovalMode, BrandRow } from '../../stores/brand.ts'
import type { PostRow } from '../../stores/post.ts'
import { keepEvent } from '../../stores/posts/approval.ts'
import { type ApprovalVerb, judge, readComment, requireDecides } from './rules.ts'

/** Submits a post for approval. */
export const submitPost = (context: Context, { id, comment, expectedVersion }: SubmitPostInput): Promise<PostRow> =>
  step(context, 'SUBMIT', id, comment, expectedVersion)

/** Decides on a post under its lock, so that each of several concurrent decisions sees the former one. */
export async function decidePost(context: Context, { id, decision, comment, expectedVersion }: DecidePostInput): Promise<PostRow> {
  const post = await context.posts.require(id)
  const mayDecide = (brand: BrandRow) => requireDecides(context.viewer, brand, post)
  mayDecide(await context.brands.require(post.brandId))
  return step(context, decision, id, comment, expectedVersion, mayDecide)
}

const pastParticiple: Readonly<Record<ApprovalVerb, string>> = {
  SUBMIT: 'submitted',
  APPROVE: 'approved',
  REQUEST_CHANGES: 'sent-back',
  REJECT: 'rejected',
  HOLD: 'held',
  RELEASE: 'released',
}

async function step(
  context: Context,
  verb: ApprovalVerb,
  id: string,
  words: string | null | undefined,
  expectedVersion: number | null | undefined,
  mayDecide?: (brand: BrandRow) => void,
): Promise<PostRow> {
  const { brands, posts, events, publicUrl, viewer } = context
  const { brandId } = await posts.require(id)
  const brand = await brands.require(brandId)
  const comment = readComment(words, verb)
  let mode: ApprovalMode = brand.approvalMode
  return change(context, {
    of: posts,
    id,
    expectedVersion,
    async before({ transaction }) {
      mode = await brands.requireInUse(brandId, transaction)
      // Checked again under the lock.
      if (mayDecide) mayDecide((await brands.share(brandId, transaction)) ?? brand)
    },
    decide: post => judge(post, verb, mode),
    audit: ({ after }) => ({ tenantId: brandId, action: `post.${pastParticiple[verb]}`, subjectId: id, details: { version: after.version } }),
    facts: ({ before, after }) => factsOf(before, after, { organizationId: brand.organizationId, publicUrl }),
    async wake({ after }, unit) {
      await keepEvent(posts, after, { at: unit.now, action: verb, comment, createdBy: actorOf(viewer) }, unit.transaction)
      await wakeIfFree(context, after, unit)
    },
    announce: ({ after }) => announcePost(events, brand, after),
  })
}

/** Wakes the delivery of a post that may be sent now: it goes out as soon as nothing else delays it. */
export async function wakeIfFree({ jobs }: Pick<Context, 'jobs'>, post: PostRow, { transaction }: WriteTransaction): Promise<void> {
  const { status, scheduledAt, approval, held } = post
  if (status === 'SCHEDULED' && scheduledAt && !held && (approval === 'NONE' || approval === 'APPROVED')) await wakeUp(jobs, post, scheduledAt, transaction)
}
