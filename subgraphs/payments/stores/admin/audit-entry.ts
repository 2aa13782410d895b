import { causeId } from '../../../../platform/caller/cause.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { Recording } from '../../../store/books.ts'
import { store } from '../../../store/store.ts'
import { personOf } from '../../../viewer.ts'

/** What was done in payments, by whom. The database refuses to change or remove an entry. */
export const auditEntries = table('payments.audit_entries', {
  /** The organization. */
  tenantId: uuid.key,
  id: uuid.key,
  at: moment,
  /** As `actorOf` names the caller; the job's name for what nobody asked for. */
  actor: text,
  /** The record's noun and a past participle: `merchant.updated`. */
  action: text,
  subjectId: uuid,
  details: json.of<Readonly<Record<string, unknown>>>().or({}),
  /** The person who acted, or for whom a service or a client did. */
  userId: uuid.maybe,
  /** The service, or the OAuth client. */
  appId: text.maybe,
  requestId: text.maybe,
})

export type PaymentAuditEntryRow = Row<typeof auditEntries>

/** Writes an entry with the caller's request. An entry of a merchant is its organization's, which reads the whole log. */
export const auditRecording: Recording = {
  statement: statement(
    `insert into payments.audit_entries (tenant_id, id, at, actor, action, subject_id, details, user_id, app_id, request_id)
     values (coalesce((select organization_id from payments.merchants where id = $1), $1), $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  ),
  values({ tenantId, id, at, actor, action, subjectId, details, viewer }) {
    const userId = personOf(actor) ?? viewer?.onBehalfOf ?? viewer?.forUser ?? null
    const appId = viewer?.appId ?? viewer?.clientId ?? null
    return [tenantId, id, at, actor, action, subjectId, JSON.stringify(details), userId, appId, causeId() ?? null]
  },
}

/** The log of the active organization. */
export const auditEntryStore = store(auditEntries, {
  what: 'audit entry',
  tenancy: { by: 'tenantId' },
  filters: {
    action: 'any',
    subjectId: 'eq',
    at: 'range',
    noun: (noun: string, { bind }) => `split_part(t.action, '.', 1) = ${bind(noun)}`,
  },
  sorted: { by: 'at', way: 'desc', name: 'newest' },
})
