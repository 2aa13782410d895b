import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { boundStatement, noTenant } from '../../../store/tenancy.ts'

export type AnnouncementAudience = 'ORGANIZATION' | 'MANAGERS' | 'PLATFORM'
export type AnnouncementSeverity = 'INFO' | 'WARNING' | 'CRITICAL'

export const announcements = table('launcher.announcements', {
  id: uuid.key,
  /** Null for one of the platform, which everybody sees. */
  organizationId: uuid.maybe,
  audience: text.of<AnnouncementAudience>(),
  severity: text.of<AnnouncementSeverity>(),
  title: text,
  body: text,
  url: text.maybe,
  startsAt: moment,
  /** Null: until it is deleted. */
  endsAt: moment.maybe,
  /** When it was deleted; it then has an end as well. */
  deletedAt: moment.maybe,
  /** When it begins or ends next; null when it has ended, or has no end. */
  nextAt: moment.maybe,
  ...stamps,
})

export type AnnouncementRow = Row<typeof announcements>

/** The people for whom an announcement is: everybody, an organization, or its managers. */
export type AnnouncementPlace = Pick<AnnouncementRow, 'organizationId' | 'audience'>

/** Maximum announcements of a list, of an organization that are not over, and of an organization with those that are. */
export const max = { listed: 200, standing: 100, stored: 1_000 } as const

/** Condition for announcements of the viewer's context, whenever they are. A rule hides from readers what has not begun. */
const seen = `(t.organization_id is null
  or t.organization_id = :organization and (t.audience = 'ORGANIZATION' or :roles::text[] && array['owner', 'admin']))`
/** Condition for announcements that a viewer manages. */
const managed = `case when t.organization_id is null then :roles::text[] && array['platform_admin', 'platform_super_admin']
  else t.organization_id = :organization and :roles::text[] && array['owner', 'admin'] end`

const list = (where: string) =>
  `select ${selectList(announcements, 't')} from launcher.announcements t where t.deleted_at is null and ${where}
    order by array_position(array['CRITICAL', 'WARNING', 'INFO'], t.severity), t.starts_at desc, t.id desc limit ${max.listed}`
const standing = boundStatement(
  list(`t.starts_at <= $1 and (t.ends_at is null or t.ends_at > $1) and ${seen}
    and not exists (select from launcher.announcement_dismissals d where d.announcement_id = t.id and d.user_id = $2)`),
  2,
)
const all = boundStatement(list(managed), 0)
const dismissed = statement(
  'select d.announcement_id as id from launcher.announcement_dismissals d where d.user_id = $1 and d.announcement_id = any($2::uuid[])',
)
const dismiss = statement('insert into launcher.announcement_dismissals (announcement_id, user_id, at) values ($1, $2, $3) on conflict do nothing')

const lockPlace = transactionLock('launcher.announcements')
const counts = statement(
  `select count(*)::int as stored, count(*) filter (where t.deleted_at is null and (t.ends_at is null or t.ends_at > $2))::int as standing
    from launcher.announcements t where t.organization_id is not distinct from $1::uuid`,
)
const nextDue = statement('select min(t.next_at) as at from launcher.announcements t where t.next_at <= $1')
const passDue = statement(
  `update launcher.announcements t set next_at = case when t.starts_at > $1 then t.starts_at when t.ends_at > $1 then t.ends_at end
    where t.id in (select d.id from launcher.announcements d where d.next_at <= $1 order by d.next_at limit $2 for update skip locked)
    returning ${selectList(announcements, 't')}`,
)
const changed = statement(
  `select ${selectList(announcements, 't')} from launcher.announcements t
    where t.organization_id is not distinct from $1::uuid and t.audience = any($2::text[])
      and (t.updated_at >= $3 or t.starts_at between $3 and $4 or t.ends_at between $3 and $4) order by t.updated_at desc limit 200`,
)

const ownSql = (rows: Rows<typeof announcements>, { reading, viewer }: StoreContext) => {
  const tenant = viewer ?? noTenant
  const ofViewer = createLoader<string, boolean>(reading, async ids => {
    const found = await rows.read<{ id: string }>(dismissed, [tenant.userId, ids])
    const all = new Set(found.map(({ id }) => id))
    return ids.map(id => all.has(id))
  })
  return {
    /** Returns what the viewer reads now, the most severe first, then the newest; without what they have dismissed. */
    standing: (now: Date): Promise<AnnouncementRow[]> => rows.read(standing, standing.values([now, tenant.userId], tenant)),

    /** Returns what the viewer manages, past and future too. */
    managed: (): Promise<AnnouncementRow[]> => rows.read(all, all.values([], tenant)),

    /** Whether the viewer has dismissed an announcement. */
    isDismissed: (id: string) => ofViewer.load(id),

    async dismiss(id: string, userId: string, now: Date, transaction: Transaction): Promise<void> {
      await rows.read(dismiss, [id, userId, now], transaction)
      ofViewer.clear(id)
    },

    /** Counts the announcements of an organization, or of the platform, and keeps everybody else from adding some. */
    async lockCounts(organizationId: string | null, now: Date, transaction: Transaction): Promise<{ readonly stored: number; readonly standing: number }> {
      await rows.read(lockPlace, [organizationId ?? 'platform'], transaction)
      return (await rows.read<{ stored: number; standing: number }>(counts, [organizationId, now], transaction))[0]!
    },

    /** Returns when the next announcement begins or ends, up to a moment; null for none. */
    async nextDue(until: Date): Promise<Date | null> {
      return (await rows.read<{ at: Date | null }>(nextDue, [until]))[0]!.at
    },

    /** Takes announcements that have begun or ended; another process does not get them as well. */
    passDue: (now: Date, limit: number, transaction: Transaction): Promise<AnnouncementRow[]> => rows.read(passDue, [now, limit], transaction),

    /** Returns announcements for the same people that changed, began or ended between two moments; a few hundred at most. */
    changedSince: (organizationId: string | null, audiences: readonly AnnouncementAudience[], since: Date, now: Date): Promise<AnnouncementRow[]> =>
      rows.read(changed, [organizationId, audiences, since, now]),
  }
}

export const announcementStore = store(announcements, { what: 'announcement', tenancy: { where: seen } }, ownSql)
