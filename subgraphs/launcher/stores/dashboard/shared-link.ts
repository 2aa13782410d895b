import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const sharedLinks = table('launcher.shared_links', {
  id: uuid.key,
  organizationId: uuid,
  title: text,
  url: text,
  icon: text.maybe,
  position: integer,
  ...stamps,
})

export type SharedLinkRow = Row<typeof sharedLinks>

const lockOrganization = transactionLock('launcher.shared-links')
const ofOrganization = statement(
  `select ${selectList(sharedLinks, 't')} from launcher.shared_links t where t.organization_id = $1 order by t.position, t.created_at, t.id`,
)
const arrange = statement(
  `update launcher.shared_links t set position = array_position($1::uuid[], t.id) - 1
    where t.id = any($1::uuid[]) and t.position <> array_position($1::uuid[], t.id) - 1 returning t.id`,
)

const ownSql = (rows: Rows<typeof sharedLinks>) => ({
  /** Returns the links of an organization, in their order. */
  of: (organizationId: string): Promise<SharedLinkRow[]> => rows.read(ofOrganization, [organizationId]),

  /** Returns the same, and keeps everybody else from adding, moving and removing them. */
  async lockOf(organizationId: string, transaction: Transaction): Promise<SharedLinkRow[]> {
    await rows.read(lockOrganization, [organizationId], transaction)
    return rows.read(ofOrganization, [organizationId], transaction)
  },

  /** Gives links their places, which are no part of their versions. */
  async arrange(ids: readonly string[], transaction: Transaction): Promise<void> {
    await rows.read(arrange, [ids], transaction)
  },
})

export const sharedLinkStore = store(sharedLinks, { what: 'shared link', tenancy: { by: 'organizationId' } }, ownSql)
