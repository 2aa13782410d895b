import { mapEvents } from '../../../../platform/events.ts'
import type { AuditLine } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { change, create, inTransaction } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateAnnouncementInput, DeleteAnnouncementInput, Resolvers, UpdateAnnouncementInput } from '../../resolvers.generated.ts'
import type { AnnouncementRow } from '../../stores/dashboard/announcement.ts'
import { announceAnnouncement, contentsOf, deleting, isShown, mayManage, requireMayManage, requireRoom, topicsFor } from './rules.ts'

/** The audit entry of a change; the platform's own are those of organization `admin`, in which they are written. */
const line = ({ viewer }: Context, action: `announcement.${string}`, { id, organizationId, audience }: AnnouncementRow): AuditLine => ({
  tenantId: organizationId ?? activeOrganization(viewer, 'Announcements'),
  action,
  subjectId: id,
  details: { audience },
})

/** Publishes a change, and has the sweep look when the announcement begins or ends. */
function announce({ events, clock, announcementAlarm }: Context, row: AnnouncementRow): void {
  announceAnnouncement(events, row, clock.now())
  announcementAlarm.ring()
}

async function createAnnouncement(context: Context, input: CreateAnnouncementInput): Promise<AnnouncementRow> {
  const { viewer, announcements, isDevelopment } = context
  const tenantId = activeOrganization(viewer, 'Announcements')
  const audience = input.audience ?? 'ORGANIZATION'
  requireMayManage(viewer, audience)
  const organizationId = audience === 'PLATFORM' ? null : tenantId
  const { row } = await create(context, {
    of: announcements,
    once: input,
    tenantId,
    async run({ transaction, now }, id) {
      requireRoom(await announcements.lockCounts(organizationId, now, transaction))
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      return { id, organizationId, audience, ...contentsOf({ url: null, until: null, ...input }, null, now, isDevelopment), ...stamps }
    },
    audit: made => line(context, 'announcement.created', made),
    announce: made => announce(context, made),
  })
  return row
}

/** Checks a locked announcement before a change. @throws NOT_FOUND for a deleted one; FORBIDDEN */
function requireChangeable({ viewer, announcements }: Context, row: AnnouncementRow): void {
  if (row.deletedAt) throw notFound(announcements.what, row.id)
  requireMayManage(viewer, row.audience)
}

const updateAnnouncement = (context: Context, { id, expectedVersion, ...input }: UpdateAnnouncementInput): Promise<AnnouncementRow> =>
  change(context, {
    of: context.announcements,
    id,
    expectedVersion,
    decide(row, { now }) {
      requireChangeable(context, row)
      return contentsOf(input, row, now, context.isDevelopment)
    },
    audit: ({ after }) => line(context, 'announcement.updated', after),
    announce: ({ after }) => announce(context, after),
  })

const deleteAnnouncement = (context: Context, { id, expectedVersion }: DeleteAnnouncementInput): Promise<AnnouncementRow> =>
  change(context, {
    of: context.announcements,
    id,
    expectedVersion,
    decide(row, { now }) {
      requireChangeable(context, row)
      return deleting(row, now)
    },
    audit: ({ after }) => line(context, 'announcement.deleted', after),
    announce: ({ after }) => announce(context, after),
  })

async function dismiss(context: Context, id: string): Promise<AnnouncementRow> {
  const { viewer, announcements, clock } = context
  const userId = requirePerson(viewer)
  const row = await announcements.require(id)
  if (row.deletedAt || !isShown(row, viewer, clock.now())) throw notFound(announcements.what, id)
  await inTransaction(context, ({ transaction, now }) => announcements.dismiss(row.id, userId, now, transaction))
  return row
}

export const announcementResolvers: Resolvers = {
  Query: {
    announcements(_, { all }, { viewer, announcements, clock }) {
      if (!all) return announcements.standing(clock.now())
      requireMayManage(viewer, mayManage(viewer, 'PLATFORM') ? 'PLATFORM' : 'ORGANIZATION')
      return announcements.managed()
    },
  },
  Mutation: {
    createAnnouncement: (_, { input }, context) => createAnnouncement(context, input),
    updateAnnouncement: (_, { input }, context) => updateAnnouncement(context, input),
    deleteAnnouncement: (_, { input }, context) => deleteAnnouncement(context, input),
    dismissAnnouncement: (_, { input: { id } }, context) => dismiss(context, id),
  },
  Subscription: {
    announcementChanged: {
      subscribe: (_, __, { viewer, events }) => mapEvents(events.listen(topicsFor(viewer)), event => ({ id: event.id! })),
      // Read for each event, so the viewer's present rights apply.
      async resolve({ id }: { id: string }, _: unknown, { announcements, viewer, clock }: Context) {
        const row = await announcements.byId.load(id)
        return row && isShown(row, viewer, clock.now()) ? row : null
      },
    },
  },
  Announcement: {
    async __resolveReference({ id }, { announcements, viewer, clock }) {
      const row = await announcements.byId.load(id)
      return row && isShown(row, viewer, clock.now()) ? row : null
    },
    from: ({ startsAt }) => startsAt,
    until: ({ endsAt }) => endsAt,
    dismissed: ({ id }, _, { announcements }) => announcements.isDismissed(id),
    createdBy({ createdBy }) {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
}
