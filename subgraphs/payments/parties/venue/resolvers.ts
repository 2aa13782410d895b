import { readId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { change, create } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import { changesOf } from '../../admin/audit/rules.ts'
import type { Context } from '../../context.ts'
import type { ArchiveVenueInput, CreateVenueInput, Resolvers, UpdateVenueInput } from '../../resolvers.generated.ts'
import type { VenueRow } from '../../stores/parties/venue.ts'
import { editVenue, max, readVenue } from './rules.ts'

/** Fields that the audit log shows. */
const audited = ['name', 'address', 'timeZone', 'status'] as const

const line = (action: string, before: VenueRow | null, after: VenueRow) => ({
  tenantId: after.organizationId,
  action,
  subjectId: after.id,
  details: { changes: changesOf(before, after, audited) },
})

async function createVenue(context: Context, input: CreateVenueInput): Promise<VenueRow> {
  const { viewer, merchants, venues } = context
  const organizationId = activeOrganization(viewer, 'Venues')
  const fields = readVenue(input)
  const { id: merchantId } = await merchants.require(input.merchantId, 'merchantId')
  const { row } = await create(context, {
    of: venues,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const used = { inAll: await venues.countOf(merchantId, transaction), today: 0, todaySince: null }
      requireQuota(used, { inAll: max.venues, aDay: Number.POSITIVE_INFINITY }, 'venues of this merchant', 'rename one that is no longer needed', now)
      return { id, merchantId, organizationId, ...fields, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: row => line('venue.created', null, row),
  })
  return row
}

const updateVenue = (context: Context, input: UpdateVenueInput): Promise<VenueRow> =>
  change(context, {
    of: context.venues,
    id: input.id,
    expectedVersion: input.expectedVersion,
    once: { what: 'updateVenue', tenantId: activeOrganization(context.viewer, 'Venues'), input },
    decide: venue => editVenue(venue, input),
    audit: ({ before, after }) => line('venue.updated', before, after),
  })

const setStatus = (context: Context, input: ArchiveVenueInput, what: 'archiveVenue' | 'restoreVenue', status: VenueRow['status']): Promise<VenueRow> =>
  change(context, {
    of: context.venues,
    id: input.id,
    expectedVersion: input.expectedVersion,
    once: { what, tenantId: activeOrganization(context.viewer, 'Venues'), input },
    decide: () => ({ status }),
    audit: ({ before, after }) => line(status === 'ARCHIVED' ? 'venue.archived' : 'venue.restored', before, after),
  })

export const venueResolvers: Resolvers = {
  Query: {
    venue: (_, { id }, { venues }) => venues.require(id),
    venues: async (_, { merchantId, status, ...page }, { viewer, venues }) => {
      activeOrganization(viewer, 'Venues')
      return venues.filtered({ merchantId: readId(merchantId, 'merchantId'), status }, page)
    },
  },
  Mutation: {
    createVenue: (_, { input }, context) => createVenue(context, input),
    updateVenue: (_, { input }, context) => updateVenue(context, input),
    archiveVenue: (_, { input }, context) => setStatus(context, input, 'archiveVenue', 'ARCHIVED'),
    restoreVenue: (_, { input }, context) => setStatus(context, input, 'restoreVenue', 'ACTIVE'),
  },
  Venue: {
    __resolveReference: ({ id }, { venues }) => venues.byId.load(id),
    merchant: ({ merchantId }, _, { merchants }) => merchants.byId.load(merchantId),
  },
  Merchant: {
    venues: ({ id }, _, { venues }) => venues.manyBy('merchantId').load(id),
  },
}
