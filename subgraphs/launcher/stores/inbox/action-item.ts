import type { Transaction } from 'sequelize'
import type { Connection, PageRequest } from '../../../../platform/page.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { filteredPages } from '../../../store/filter/pages.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import type { Tenant } from '../../../store/tenancy.ts'
import { type ItemFilter, keptLists, listWriter, type Severity, severeOrder } from './action-item-list.ts'

export type Audience = 'organization' | 'managers' | 'person'
export type Status = 'OPEN' | 'DONE' | 'RESOLVED'

export const actionItems = table('launcher.action_items', {
  id: uuid.key,
  /** Slug of the service that opened the item; together with the service's key it identifies the item. */
  app: text,
  key: text,
  kind: text,
  severity: text.of<Severity>(),
  status: text.of<Status>(),
  /** Organization of the item; null for an item of one person without an organization. */
  organizationId: uuid.maybe,
  audience: text.of<Audience>(),
  userId: uuid.maybe,
  /** Who is to see to the item; null while nobody is. */
  assigneeId: uuid.maybe,
  subjectId: text,
  title: text,
  body: text.maybe,
  url: text,
  dueAt: moment.maybe,
  /** When the item's cause last occurred, by the clock of its service. */
  openedAt: moment,
  closedAt: moment.maybe,
  /**
   * Who marked the item as done, as audit entries name the person; null while it is open, and when its service closed
   * it.
   */
  closedBy: text.maybe,
  ...stamps,
})

export type ActionItemRow = Row<typeof actionItems>

/** The people who may see an item. */
export type Place = Pick<ActionItemRow, 'organizationId' | 'audience' | 'userId'>

/** Returns the people who may see an item as one text, which the database computes alike. */
export const audienceKeyOf = ({ organizationId, audience, userId }: Place): string =>
  `${organizationId ?? 'personal'}.${audience}${audience === 'person' ? `.${userId}` : ''}`

/** Whether roles are those of a manager, who sees what is for managers. */
export const isManager = ({ roles }: Pick<Tenant, 'roles'>): boolean => roles.includes('owner') || roles.includes('admin')

/** Returns the audiences that a viewer belongs to in the active context. */
export function audienceKeysOf(viewer: Tenant): string[] {
  const { organizationId, userId } = viewer
  const own = userId ? [audienceKeyOf({ organizationId, audience: 'person', userId })] : []
  if (!organizationId) return own
  const shared = isManager(viewer) ? (['organization', 'managers'] as const) : (['organization'] as const)
  return [...shared.map(audience => audienceKeyOf({ organizationId, audience, userId: null })), ...own]
}

/** Numbers of the items that wait for a viewer. */
export interface ActionCountsRow {
  readonly open: number
  readonly critical: number
  readonly assignedToMe: number
  readonly snoozed: number
}

const select = `select ${selectList(actionItems, 't')} from launcher.action_items t where`
const lockByKey = statement(`${select} t.app = $1 and t.key = $2 for no key update`)
const lockAssigned = statement(`${select} t.assignee_id = $1 and t.organization_id = $2 and ($3 or t.audience = 'managers') order by t.id for no key update`)
const changed = (owner: string) =>
  statement(`select t.id, t.version from launcher.action_items t where ${owner} and t.updated_at >= $2 order by t.updated_at desc limit 200`)
const changedOfAudience = changed('t.organization_id = $1 and t.audience = $3')
const changedOfPerson = changed(`t.user_id = $1 and t.audience = 'person' and t.organization_id is not distinct from $3::uuid`)
const counts = statement(
  `select count(*) filter (where not t.asleep)::int as open, count(*) filter (where not t.asleep and t.severity = 'CRITICAL')::int as critical,
     count(*) filter (where not t.asleep and t.assignee_id = $2)::int as "assignedToMe", count(*) filter (where t.asleep)::int as snoozed
   from (select i.severity, i.assignee_id, z.item_id is not null as asleep from launcher.action_items i
     left join launcher.action_item_snoozes z on z.user_id = $2 and z.item_id = i.id and z.woken_at is null and z.until > $3
     where i.audience_key = any($1::text[]) and i.status = 'OPEN') t`,
)

const newestOpen = statement(
  `select ${selectList(actionItems, 't')} from launcher.action_items t
    where t.audience_key = any($1::text[]) and t.status = 'OPEN' and t.kind = $2 and ($3::text is null or t.app = $3)
    order by t.created_at desc, t.id desc limit 1`,
)

const waiting = statement(
  `select i.title, i.url, count(*) over ()::int as total, min(coalesce(i.organization_id::text, '')) over () as "firstOrganization",
     max(coalesce(i.organization_id::text, '')) over () as "lastOrganization" from launcher.action_items i
    where i.audience_key = any($1::text[]) and i.status = 'OPEN' and not exists (select from launcher.action_item_snoozes z
      where z.user_id = $2 and z.item_id = i.id and z.woken_at is null and z.until > $3)
    order by i.urgency desc, i.opened_at desc, i.id desc limit $4`,
)

/** A line of a digest: what it says, and how many there are in how many organizations. */
export interface DigestLine {
  readonly title: string
  readonly url: string | null
  readonly total: number
  /** Ids of organizations, the same where there is one; empty for what belongs to none. */
  readonly firstOrganization: string
  readonly lastOrganization: string
}

const actionItemSql = (rows: Rows<typeof actionItems>, { reading, viewer, clock }: StoreContext) => {
  const seenBy = viewer ? { keys: audienceKeysOf(viewer), userId: viewer.userId } : { keys: [], userId: null }
  const write = listWriter(selectList(actionItems, 't'), seenBy, clock)
  const pages = filteredPages<ActionItemRow, ItemFilter>(rows, reading, {
    kept: keptLists,
    page: write,
    count: filter => write(filter),
    order: () => severeOrder,
  })
  return {
    /** Returns a page of the items that the viewer sees, the most severe first. */
    list: (filter: ItemFilter, request: PageRequest): Promise<Connection<ActionItemRow>> => pages(filter, request),

    /** Counts the open items that the viewer sees. */
    counts: async (): Promise<ActionCountsRow> => (await rows.read<ActionCountsRow>(counts, [seenBy.keys, seenBy.userId, clock.now()]))[0]!,

    /** Returns the newest open item of a kind that the viewer sees; null when there is none. @param app null: of any app */
    async newestOpen(kind: string, app: string | null): Promise<ActionItemRow | null> {
      return (await rows.read(newestOpen, [seenBy.keys, kind, app]))[0] ?? null
    },

    /** Returns what waits for a person in all contexts, the most severe first, without what they have snoozed. @param keys as `audienceKeysOf` returns them */
    waitingFor: (userId: string, keys: readonly string[], limit: number): Promise<DigestLine[]> =>
      rows.read<DigestLine>(waiting, [keys, userId, clock.now(), limit]),

    /** Locks the item with a service's key; null when there is none. */
    async lockKey(app: string, key: string, transaction: Transaction): Promise<ActionItemRow | null> {
      const [item] = await rows.read(lockByKey, [app, key], transaction)
      return item ?? null
    },

    /** Locks the items of an organization that are assigned to a person: all of them, or only those for managers. */
    lockAssigned: (userId: string, organizationId: string, all: boolean, transaction: Transaction): Promise<ActionItemRow[]> =>
      rows.read(lockAssigned, [userId, organizationId, all], transaction),

    /** Returns items for the same people that changed since a moment, the latest first; a few hundred at most. */
    changedSince: ({ organizationId, audience, userId }: Place, since: Date): Promise<{ id: string; version: number }[]> =>
      audience === 'person'
        ? rows.read<{ id: string; version: number }>(changedOfPerson, [userId, since, organizationId])
        : rows.read<{ id: string; version: number }>(changedOfAudience, [organizationId, since, audience]),
  }
}

/**
 * Condition for visible items: everyone in the organization sees the items for all, its owners and admins those for
 * managers, and a person their own.
 */
export const seenItem = `
  t.organization_id = :organization and (t.audience = 'organization'
    or t.audience = 'managers' and :roles::text[] && array['owner', 'admin']
    or t.audience = 'person' and t.user_id = :person)
  or t.organization_id is null and :organization::uuid is null and t.user_id = :person`

export const actionItemStore = store(actionItems, { what: 'action item', tenancy: { where: seenItem } }, actionItemSql)
