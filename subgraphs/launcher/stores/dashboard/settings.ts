import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { type Row, stamps, type Table, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** How the launcher looks for a person; the id is the person's. */
export const personSettings = table('launcher.person_settings', {
  id: uuid.key,
  theme: text.of<'SYSTEM' | 'LIGHT' | 'DARK'>(),
  locale: text.maybe,
  timeZone: text.maybe,
  startPage: text.maybe,
  ...stamps,
})

/** What an organization sets for everybody in it; the id is the organization's. */
export const organizationSettings = table('launcher.organization_settings', {
  id: uuid.key,
  defaultStartPage: text.maybe,
  supportUrl: text.maybe,
  ...stamps,
})

export type PersonSettingsRow = Row<typeof personSettings>
export type OrganizationSettingsRow = Row<typeof organizationSettings>

const lock = transactionLock('launcher.settings')

const ownSql = <T extends Table>(rows: Rows<T>) => ({
  /** Returns somebody's settings, and keeps everybody else from changing them; null while nothing was changed. */
  async lockOf(id: string, transaction: Transaction): Promise<Row<T> | null> {
    await rows.read(lock, [id], transaction)
    return rows.lock(id, transaction)
  },
})

export const personSettingsStore = store(personSettings, { what: 'settings', tenancy: { where: 't.id = :person' } }, rows =>
  ownSql<typeof personSettings>(rows),
)
export const organizationSettingsStore = store(organizationSettings, { what: 'settings', tenancy: { where: 't.id = :organization' } }, rows =>
  ownSql<typeof organizationSettings>(rows),
)
