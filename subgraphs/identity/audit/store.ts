import type { Transaction } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import type { Tables } from '../tables.ts'

/** What the audit knows of; each is written in the transaction of the change itself. */
export type AuditAction =
  | 'organization.created'
  | 'membership.added'
  | 'membership.roles_changed'
  | 'membership.removed'
  | 'api_key.created'
  | 'api_key.revoked'

export interface Audited {
  readonly organizationId: string
  readonly userId: string | null
  readonly action: AuditAction
  /** Id of what was changed. */
  readonly target: string
  readonly at: Date
}

/** Notes a change beside the change: no commit, no entry, and no change without an entry. */
export async function recordAudit(tables: Tables, entry: Audited, transaction: Transaction): Promise<void> {
  await tables.auditEntries.create({ ...entry, id: newId(entry.at) }, { transaction, returning: false })
}
