import { readTimeZone } from '../../../platform/clock.ts'
import { requireQuota } from '../../../platform/limit.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { change, create } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { announceBrand, announcePost } from '../news/announce.ts'
import { followMode } from '../post/approval/mode.ts'
import type { ArchiveBrandInput, Resolvers, UpdateBrandInput } from '../resolvers.generated.ts'
import type { BrandRow } from '../stores/brand.ts'
import type { PostRow } from '../stores/post.ts'
import { requireMembers } from './approvers.ts'
import { pauseBrand, resumeBrand } from './pause.ts'
import { archive, editBrand, readApprovers, readDescription, readName } from './rules.ts'
import { transferBrand } from './transfer.ts'

/** Changes a brand, with an audit entry; the widget is notified when the brand becomes active or inactive. */
const changeBrand = (
  context: Context,
  { id, expectedVersion }: ArchiveBrandInput,
  action: string,
  decide: (brand: BrandRow, unit: WriteTransaction) => Partial<BrandRow> | Promise<Partial<BrandRow>>,
): Promise<BrandRow> =>
  change(context, {
    of: context.brands,
    id,
    expectedVersion,
    decide,
    audit: ({ after }) => ({ tenantId: id, action, subjectId: id, details: { version: after.version } }),
    announce({ before, after }) {
      if (before.archivedAt !== after.archivedAt) announceBrand(context.events, after)
    },
  })

/** Edits a brand; its posts follow a changed approval mode. */
async function updateBrand(context: Context, { id, expectedVersion, ...wanted }: UpdateBrandInput): Promise<BrandRow> {
  const { organizationId } = await context.brands.require(id)
  await requireMembers(context, organizationId, readApprovers(wanted.approverIds))
  const moved: PostRow[] = []
  return change(context, {
    of: context.brands,
    id,
    expectedVersion,
    decide: brand => editBrand(brand, wanted),
    audit: ({ after }) => ({ tenantId: id, action: 'brand.changed', subjectId: id, details: { version: after.version } }),
    wake: async ({ before, after }, unit) => void moved.push(...(await followMode(context, before, after, unit))),
    announce({ after }) {
      for (const post of moved) announcePost(context.events, after, post)
    },
  })
}

export const brandResolvers: Resolvers = {
  Query: {
    brand: (_, { id }, { brands }) => brands.require(id),
    brands: (_, { archived, ...page }, { viewer, brands }) => brands.page(archived ? 'archived' : 'inUse', activeOrganization(viewer, 'Brands'), page),
  },
  Mutation: {
    async createBrand(_, { input }, context) {
      const { viewer, brands, quotas } = context
      const organizationId = activeOrganization(viewer, 'Brands')
      const words = {
        name: readName(input.name),
        description: readDescription(input.description),
        timeZone: readTimeZone(input.timeZone ?? 'UTC'),
        approvalMode: input.approvalMode ?? 'NONE',
      }
      const { row } = await create(context, {
        of: brands,
        once: input,
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          const most = { inAll: quotas.brandsAnOrganization, aDay: Number.POSITIVE_INFINITY }
          requireQuota(await brands.madeFor(organizationId, transaction), most, 'brands in this organization', 'work with one of them', now)
          return { id, organizationId, ...words, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        },
        audit: ({ id }) => ({ tenantId: id, action: 'brand.created', subjectId: id }),
      })
      return row
    },
    updateBrand: (_, { input }, context) => updateBrand(context, input),
    archiveBrand: (_, { input }, context) =>
      changeBrand(context, input, 'brand.archived', async (brand, { now, transaction }) =>
        archive(brand, await context.brands.scheduled(brand.id, transaction), now),
      ),
    restoreBrand: (_, { input }, context) => changeBrand(context, input, 'brand.restored', brand => (brand.archivedAt ? { archivedAt: null } : {})),
    pauseBrand: (_, { input }, context) => pauseBrand(context, input),
    resumeBrand: (_, { input }, context) => resumeBrand(context, input),
    transferBrand: (_, { input }, context) => transferBrand(context, input),
  },
  Brand: {
    __resolveReference: ({ id }, { brands }) => brands.byId.load(id),
    organization: ({ organizationId }) => ({ __typename: 'Organization', id: organizationId }),
    approvers: ({ approverIds }) => approverIds.map(id => ({ __typename: 'User', id })),
    connections: ({ id }, _, { connections }) => connections.manyBy('brandId').load(id),
  },
  Organization: {
    __resolveReference: ({ id }) => ({ id }),
    // An organization that is not the active one shows no brands.
    brands: ({ id }, page, { brands }) => brands.page('all', id, page),
  },
}
