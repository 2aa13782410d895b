import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { record, type WriteTransaction, writeFacts } from '../../store/books.ts'
import { change } from '../../store/write.ts'
import { requirePerson } from '../../viewer.ts'
import { connectionHealthTopic, movedFacts } from '../connection/health.ts'
import type { Context } from '../context.ts'
import { activityTopic } from '../news/activity/announce.ts'
import { announceBrand, announceMoved, factsOfMove, type Place, postStatusTopic } from '../news/announce.ts'
import { tellRestingMoved } from '../news/webhook/resting.ts'
import { registration } from '../registration.ts'
import type { TransferBrandInput } from '../resolvers.generated.ts'
import { type BrandRow, requireInUse } from '../stores/brand.ts'
import { eachAttentive } from '../stores/posts/of-brand.ts'
import { RightsWhereBrandGoesDocument } from './ask.generated.ts'

/**
 * Moves a brand to another organization. A brand's records are found through it and do not change; action items of its posts and
 * connections move to the new organization.
 */
export async function transferBrand(context: Context, { id, organizationId: wanted, expectedVersion }: TransferBrandInput): Promise<BrandRow> {
  const { viewer, brands, events, quotas } = context
  const userId = requirePerson(viewer)
  const organizationId = requireId(wanted, 'organizationId')
  await brands.require(id)
  await requireMember(context, userId, organizationId)
  return change(context, {
    of: brands,
    id,
    expectedVersion,
    async decide(brand, { now, transaction }) {
      requireInUse(brand)
      if (brand.organizationId === organizationId) return {}
      const most = { inAll: quotas.brandsAnOrganization, aDay: Number.POSITIVE_INFINITY }
      requireQuota(await brands.madeFor(organizationId, transaction), most, 'brands in that organization', 'archive none, but ask for more', now)
      return { organizationId }
    },
    audit: ({ before, after }) => transferred(id, before, after),
    wake: ({ before, after }, unit) => tellOf(context, before, after, unit),
    announce({ before, after }) {
      announceMoved(events, id, [postStatusTopic(id), activityTopic(id), connectionHealthTopic(before.organizationId)])
      for (const brand of [before, after]) announceBrand(events, brand)
    },
  })
}

/** @throws NOT_FOUND, the same for a missing organization and for one of which the caller is no member */
async function requireMember({ ask, viewer }: Context, userId: string, organizationId: string): Promise<void> {
  const { memberRights } = await ask(RightsWhereBrandGoesDocument, { userId, organizationId }, { appId: registration.appId, viewer })
  if (!memberRights) throw new DomainError('NOT_FOUND', `You are in no organization ${organizationId}: a brand moves to one of yours.`, { id: organizationId })
}

const transferred = (tenantId: string, before: BrandRow, after: BrandRow) => ({
  tenantId,
  action: 'brand.transferred',
  subjectId: after.id,
  details: { from: before.organizationId, to: after.organizationId, version: after.version },
})

/**
 * Writes the move into the audit log of both organizations, and moves the action items of the brand's posts and
 * connections.
 */
async function tellOf(context: Context, before: BrandRow, after: BrandRow, unit: WriteTransaction): Promise<void> {
  for (const { organizationId } of [before, after]) await record(context, transferred(organizationId, before, after), unit)
  const { connections, posts, publicUrl } = context
  const [from, to] = [before, after].map(({ organizationId }) => ({ organizationId, publicUrl })) as [Place, Place]
  await eachAttentive(posts, after.id, unit.transaction, async post => {
    // Closes the former organization's attention before opening the new one's, in this order.
    for (const fact of factsOfMove(post, from, to)) await writeFacts(context, [fact], unit)
  })
  await tellRestingMoved(context, before, after, unit)
  // All connections are locked, so that no health changes unnoticed in between.
  for (const fact of movedFacts(await connections.holdOfBrand(after.id, unit.transaction), from, to)) await writeFacts(context, [fact], unit)
}
