import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'
import { bindTenant } from '../../store/tenancy.ts'

export type Audience = 'organization' | 'managers' | 'person'
export type Severity = 'CRITICAL' | 'HIGH' | 'NORMAL' | 'LOW'
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

const lockByKey = statement(`select ${selectList(actionItems, 't')} from launcher.action_items t where t.app = $1 and t.key = $2 for no key update`)
const changed = (owner: string) =>
  statement(`select t.id, t.version from launcher.action_items t where ${owner} and t.updated_at >= $2 order by t.updated_at desc limit 200`)
const changedOfAudience = changed('t.organization_id = $1 and t.audience = $3')
const changedOfPerson = changed(`t.user_id = $1 and t.audience = 'person' and t.organization_id is not distinct from $3::uuid`)

/**
 * Condition for visible items: everyone in the organization sees the items for all, its owners and admins those for
 * managers, and a person their own.
 */
const seen = `
  t.organization_id = :organization and (t.audience = 'organization'
    or t.audience = 'managers' and :roles::text[] && array['owner', 'admin']
    or t.audience = 'person' and t.user_id = :person)
  or t.organization_id is null and :organization::uuid is null and t.user_id = :person`

const openOfKind = bindTenant(
  `select ${selectList(actionItems, 't')} from launcher.action_items t
    where t.status = 'OPEN' and t.kind = $1 and ($2::text is null or t.app = $2) and (${seen}) order by t.created_at desc, t.id desc limit 1`,
  2,
)
const newestOpen = statement(openOfKind.text)

const actionItemSql = (rows: Rows<typeof actionItems>, { viewer }: Opening) => ({
  /** Returns the newest open item of a kind that the viewer sees; null when there is none. @param app null: of any app */
  async newestOpen(kind: string, app: string | null): Promise<ActionItemRow | null> {
    return viewer ? ((await rows.read(newestOpen, openOfKind.values([kind, app], viewer)))[0] ?? null) : null
  },

  /** Locks the item with a service's key; null when there is none. */
  async lockKey(app: string, key: string, transaction: Transaction): Promise<ActionItemRow | null> {
    const [item] = await rows.read(lockByKey, [app, key], transaction)
    return item ?? null
  },

  /** Returns items for the same people that changed since a moment, the latest first; a few hundred at most. */
  changedSince: ({ organizationId, audience, userId }: Place, since: Date): Promise<{ id: string; version: number }[]> =>
    audience === 'person'
      ? rows.read<{ id: string; version: number }>(changedOfPerson, [userId, since, organizationId])
      : rows.read<{ id: string; version: number }>(changedOfAudience, [organizationId, since, audience]),
})

export const actionItemStore = store(
  actionItems,
  {
    what: 'action item',
    tenancy: { where: seen },
    lists: {
      ofOrganization: { below: 'organizationId', order: 'newest first', only: `t.status = 'OPEN'` },
      ofPerson: { below: 'userId', order: 'newest first', only: `t.status = 'OPEN' and t.organization_id is null` },
    },
  },
  actionItemSql,
)
