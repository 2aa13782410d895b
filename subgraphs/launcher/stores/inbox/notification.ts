import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import type { DigestLine } from './action-item.ts'
import type { Severity } from './action-item-list.ts'
import type { NoticeRow } from './notice.ts'

export const notifications = table('launcher.notifications', {
  id: uuid.key,
  userId: uuid,
  /** Null in personal context. */
  organizationId: uuid.maybe,
  app: text,
  kind: text,
  title: text,
  body: text.maybe,
  url: text.maybe,
  severity: text.of<Severity>(),
  /** What it is about: an unread one of the same app and scope is replaced and counted; null: never. */
  scope: text.maybe,
  count: integer.or(1),
  readAt: moment.maybe,
  archivedAt: moment.maybe,
  ...stamps,
})

export type NotificationRow = Row<typeof notifications>

/** Whose notifications they are: a person's in a context. */
export type NotificationOwner = Pick<NotificationRow, 'organizationId' | 'userId'>

/** Returns the owner of notifications as one text, which the database computes alike. */
export const ownerKeyOf = ({ organizationId, userId }: NotificationOwner): string => `${organizationId ?? 'personal'}.${userId}`

/** Something that arrived: a new notification, or one that counts it. */
export type Arrived = Pick<NotificationRow, 'id' | 'userId' | 'organizationId' | 'createdAt'>

/** One writer at a time for an app and a scope: two notices at once count as two of one notification. */
const lockScope = transactionLock('launcher.notification', 2)
const arrived = 'returning t.id, t.user_id as "userId", t.organization_id as "organizationId", t.created_at as "createdAt"'
const join = statement(
  `update launcher.notifications t set title = $4, body = $5, url = $6, severity = $7, count = t.count + 1, version = t.version + 1, created_at = $8, updated_at = $8
    from (select distinct on (n.owner_key) n.id from launcher.notifications n
      where n.owner_key = any($1::text[]) and n.app = $2 and n.scope = $3 and n.read_at is null and n.archived_at is null
      order by n.owner_key, n.created_at desc, n.id desc) latest
    where t.id = latest.id ${arrived}`,
)
const insert = statement(
  `insert into launcher.notifications as t (id, user_id, organization_id, app, kind, title, body, url, severity, scope, created_at, updated_at, created_by)
   select gen_random_uuid(), person, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, 'service:app_' || $3 from unnest($1::uuid[]) person ${arrived}`,
)
const own = 'owner_key = $1 and'
const unread = statement(`select count(*)::int as count from launcher.notifications t where t.${own} t.read_at is null and t.archived_at is null`)
const owned = statement(`select t.id from launcher.notifications t where t.${own} t.id = any($2::uuid[]) order by t.id for no key update`)
const changing = (set: string, where: string) =>
  statement(
    `update launcher.notifications t set ${set}, updated_at = $2, version = t.version + 1 where t.${own} ($3::uuid[] is null or t.id = any($3)) and ${where}`,
  )
const marks = {
  read: changing('read_at = $2', 't.read_at is null and t.archived_at is null'),
  unread: changing('read_at = null', 't.read_at is not null and t.archived_at is null'),
  archived: changing('archived_at = $2, read_at = coalesce(t.read_at, $2)', 't.archived_at is null'),
  present: changing('archived_at = null', 't.archived_at is not null'),
} as const
const changed = statement(`select t.id, t.created_at as "createdAt" from launcher.notifications t where t.${own} t.archived_at is null and t.created_at >= $2
  order by t.created_at desc, t.id desc limit 200`)

const unreadOf = statement(
  `select t.title, t.url, count(*) over ()::int as total, min(coalesce(t.organization_id::text, '')) over () as "firstOrganization",
     max(coalesce(t.organization_id::text, '')) over () as "lastOrganization" from launcher.notifications t
    where t.owner_key = any($1::text[]) and t.read_at is null and t.archived_at is null order by t.created_at desc, t.id desc limit $2`,
)

const notificationSql = (rows: Rows<typeof notifications>, _opening: StoreContext) => ({
  /** Gives people what a notice says, in the context of its organization: each a notification, or one more of the same scope. */
  async arrive(notice: NoticeRow, userIds: readonly string[], now: Date, transaction: Transaction): Promise<readonly Arrived[]> {
    const { organizationId, app, kind, title, body, url, severity, scope } = notice
    let joined: readonly Arrived[] = []
    if (scope !== null) {
      await rows.read(lockScope, [app, scope], transaction)
      const keys = userIds.map(userId => ownerKeyOf({ organizationId, userId }))
      joined = await rows.read<Arrived>(join, [keys, app, scope, title, body, url, severity, now], transaction)
    }
    const others = userIds.filter(userId => !joined.some(each => each.userId === userId))
    if (others.length === 0) return joined
    const made = await rows.read<Arrived>(insert, [others, organizationId, app, kind, title, body, url, severity, scope, now], transaction)
    return [...joined, ...made]
  },

  /** Counts what is neither read nor archived. */
  unread: async (owner: NotificationOwner, transaction?: Transaction): Promise<number> =>
    (await rows.read<{ count: number }>(unread, [ownerKeyOf(owner)], transaction))[0]!.count,

  /** Returns what is neither read nor archived of some owners, newest first. */
  unreadOf: (owners: readonly NotificationOwner[], limit: number): Promise<DigestLine[]> => rows.read<DigestLine>(unreadOf, [owners.map(ownerKeyOf), limit]),

  /** Locks those of the ids that are an owner's, and returns them. */
  async lockOwned(owner: NotificationOwner, ids: readonly string[], transaction: Transaction): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(owned, [ownerKeyOf(owner), ids], transaction)).map(({ id }) => id)
  },

  /** Marks some of an owner's notifications, or all of them. @param ids null for all */
  async mark(owner: NotificationOwner, how: keyof typeof marks, ids: readonly string[] | null, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(marks[how], [ownerKeyOf(owner), now, ids], transaction)
  },

  /** Returns what arrived since a moment, the latest first; a few hundred at most. */
  arrivedSince: (ownerKey: string, since: Date) => rows.read<Pick<Arrived, 'id' | 'createdAt'>>(changed, [ownerKey, since]),
})

/** Condition for notifications of the viewer in the active context. */
export const seenNotification = `t.owner_key = coalesce(:organization::text, 'personal') || '.' || :person::text`

export const notificationStore = store(
  notifications,
  {
    what: 'notification',
    tenancy: { where: seenNotification },
    filters: {
      app: 'eq',
      isHidden: (hides: boolean) => `${!hides}`,
      isUnread: (wanted: boolean) => (wanted ? 't.read_at is null' : 'true'),
      isArchived: (wanted: boolean) => (wanted ? 't.archived_at is not null' : 't.archived_at is null'),
    },
  },
  notificationSql,
)
