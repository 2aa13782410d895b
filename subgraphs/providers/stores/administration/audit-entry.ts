import { isId } from '../../../../platform/ids.ts'
import { isMoment, type Order, type PageRequest } from '../../../../platform/page.ts'
import { keptStatements } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, table, text, uuid } from '../../../../platform/sql/table.ts'
import { filteredPages } from '../../../store/filter/pages.ts'
import { type Opening, type Rows, store } from '../../../store/store.ts'

/** Who changed what: written with each change (`subgraphs/store/books.ts`), and read here. */
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

/** Newest first. */
export const newestFirst: Order<ProviderAuditEntryRow> = {
  name: 'auditEntries.newest',
  position: ({ at, id }) => [at.toISOString(), id],
  parts: [isMoment, isId],
}

const columns = selectList(auditEntries, 'e')
const kept = keptStatements(3)

const page = (organizationId: string, { after, limit }: PageRequest) => ({
  text: `select ${columns} from providers.audit_entries e where e.tenant_id = $1
         ${after ? 'and (e.at, e.id) < ($3::timestamptz, $4::uuid)' : ''} order by e.at desc, e.id desc limit $2`,
  values: [organizationId, limit, ...(after ?? [])],
})

const auditSql = (rows: Rows<typeof auditEntries>, { reading }: Opening) => ({
  /** A page of an organization's. */
  listed: filteredPages<ProviderAuditEntryRow, string>(rows, reading, {
    kept,
    page,
    count: organizationId => ({ text: 'select count(*)::int as count from providers.audit_entries where tenant_id = $1', values: [organizationId] }),
    order: () => newestFirst,
  }),
})

export const auditEntryStore = store(auditEntries, { what: 'entry of the record', tenancy: { by: 'tenantId' } }, auditSql)
