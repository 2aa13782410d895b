import { json, moment, type Row, table, text, uuid } from '../../../../platform/sql/table.ts'
import { store } from '../../../store/store.ts'

/** The audit log: written with each change (`subgraphs/store/books.ts`), and read here. */
export const auditEntries = table('providers.audit_entries', {
  tenantId: uuid.key,
  id: uuid.key,
  at: moment,
  actor: text,
  action: text,
  subjectId: uuid,
  details: json.of<Readonly<Record<string, unknown>>>().or({}),
})

export type ProviderAuditEntryRow = Row<typeof auditEntries>

export const auditEntryStore = store(auditEntries, {
  what: 'entry of the record',
  tenancy: { by: 'tenantId' },
  filters: {},
  sorted: { by: 'at', way: 'desc', name: 'newest' },
})
