import { newId } from '../../../../platform/ids.ts'
import { create } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import { announcePost } from '../../news/announce.ts'
import type { ComposePostsInput } from '../../resolvers.generated.ts'
import type { ApprovalMode } from '../../stores/brand.ts'
import type { PostRow } from '../../stores/post.ts'
import { requireAllPublishable, surroundingsOf } from '../problems.ts'
import { checkMoment } from '../rules.ts'
import { accompany, addPost, requireRoom, rowOf } from '../write.ts'
import { composed } from './drafts.ts'

/** Posts that were composed together. */
export interface Composition {
  readonly groupId: string
  readonly posts: readonly PostRow[]
}

/** Writes one post for each network, all or none; once for each key. */
export async function composePosts(context: Context, input: ComposePostsInput): Promise<Composition> {
  const { brands, campaigns, posts, events, clock } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const { scheduledAt = null } = input
  if (scheduledAt) checkMoment(scheduledAt, clock.now())
  const parts = composed(input)
  const media = parts.flatMap(({ content }) => content.media)
  const surroundings = await surroundingsOf(context, { brandId: brand.id, media, platforms: scheduledAt ? input.platforms : [] })
  const looked = parts.map(({ platform, content }) => ({ post: { ...content, brandId: brand.id, platform, position: 1 }, mark: { platform } }))
  const [first, ...others] = parts.map(part => ({ ...part, scheduledAt, surroundings }))
  const written: PostRow[] = []
  let mode: ApprovalMode = brand.approvalMode
  const { row, repeated } = await create(context, {
    of: posts,
    once: input,
    tenantId: brand.organizationId,
    async run(unit, id) {
      mode = await brands.requireInUse(brand.id, unit.transaction)
      await requireRoom(context, parts.length, unit)
      if (scheduledAt) requireAllPublishable(looked, surroundings)
      if (first!.content.campaignId) await campaigns.requireOf(brand.id, first!.content.campaignId, unit.transaction)
      return rowOf(context, brand, mode, { ...first!, groupId: id }, unit, id)
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'post.created', subjectId: id }),
    async wake(head, unit) {
      await accompany(context, head, unit)
      written.push(head)
      for (const draft of others) written.push(await addPost(context, rowOf(context, brand, mode, { ...draft, groupId: head.id }, unit, newId(unit.now)), unit))
    },
    announce() {
      for (const post of written) announcePost(events, brand, post)
    },
  })
  // Returns their present state: some may have been deleted since.
  const standing = repeated ? await posts.ofGroup(row) : written
  // Ids of one millisecond have no order, so the input's order is used.
  const order = (post: PostRow) => input.platforms.indexOf(post.platform)
  return { groupId: row.groupId ?? row.id, posts: standing.toSorted((a, b) => order(a) - order(b)) }
}
