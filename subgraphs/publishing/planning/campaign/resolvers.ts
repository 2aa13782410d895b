import { requireQuota } from '../../../../platform/limit.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change, create, remove } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { ArchiveCampaignInput, Resolvers } from '../../resolvers.generated.ts'
import { type CampaignRow, mostCampaigns } from '../../stores/planning/campaign.ts'
import { writeInto } from './rules.ts'

/** A change of a campaign, with its line in the record; an archived brand takes none. */
async function changeCampaign(
  context: Context,
  { id, expectedVersion }: ArchiveCampaignInput,
  action: string,
  decide: (campaign: CampaignRow, unit: WriteTransaction) => Partial<CampaignRow>,
): Promise<CampaignRow> {
  const { campaigns, brands } = context
  const { brandId } = await campaigns.require(id)
  return change(context, {
    of: campaigns,
    id,
    expectedVersion,
    before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
    decide,
    audit: ({ after }) => ({ tenantId: brandId, action, subjectId: id, details: { version: after.version } }),
  })
}

export const campaignResolvers: Resolvers = {
  Query: {
    campaign: (_, { id }, { campaigns }) => campaigns.require(id),
    async campaigns(_, { brandId, archived, ...page }, { brands, campaigns }) {
      const { id } = await brands.require(brandId, 'brandId')
      return campaigns.page(archived ? 'archived' : 'goingOn', id, page)
    },
  },
  Mutation: {
    async createCampaign(_, { input }, context) {
      const { brands, campaigns, viewer } = context
      const brand = await brands.require(input.brandId, 'brandId')
      const words = writeInto(input)
      const { row } = await create(context, {
        of: campaigns,
        once: input,
        tenantId: brand.organizationId,
        async run({ transaction, now }, id) {
          await brands.requireInUse(brand.id, transaction)
          const most = { inAll: mostCampaigns, aDay: Number.POSITIVE_INFINITY }
          requireQuota(await campaigns.madeFor(brand.id, transaction), most, 'campaigns of this brand', 'delete one that nobody needs', now)
          return { brandId: brand.id, id, ...words, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        },
        audit: ({ id }) => ({ tenantId: brand.id, action: 'campaign.created', subjectId: id }),
      })
      return row
    },
    updateCampaign: (_, { input }, context) => changeCampaign(context, input, 'campaign.changed', campaign => writeInto(input, campaign)),
    archiveCampaign: (_, { input }, context) =>
      changeCampaign(context, input, 'campaign.archived', ({ archivedAt }, { now }) => (archivedAt ? {} : { archivedAt: now })),
    restoreCampaign: (_, { input }, context) =>
      changeCampaign(context, input, 'campaign.restored', ({ archivedAt }) => (archivedAt ? { archivedAt: null } : {})),
    async deleteCampaign(_, { input: { id, expectedVersion } }, context) {
      const { brands, campaigns } = context
      const { brandId } = await campaigns.require(id)
      return remove(context, {
        of: campaigns,
        id,
        expectedVersion,
        before: async ({ transaction }) => void (await brands.requireInUse(brandId, transaction)),
        decide: (campaign, { transaction }) => campaigns.leave(campaign.id, transaction),
        audit: () => ({ tenantId: brandId, action: 'campaign.deleted', subjectId: id }),
      })
    },
  },
  Campaign: {
    __resolveReference: ({ id }, { campaigns }) => campaigns.byId.load(id),
    counts: ({ id }, _, { campaigns }) => campaigns.countsOf.load(id),
    posts: ({ id }, page, { posts }) => posts.page('ofCampaign', id, page),
  },
  Post: { campaign: ({ campaignId }, _, { campaigns }) => campaigns.find(campaignId) },
}
