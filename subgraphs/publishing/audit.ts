import type { Sequelize, Transaction } from 'sequelize'
import { newId } from '../../platform/ids.ts'
import type { Viewer } from '../viewer.ts'

/** One line of the record of who did what: written in the transaction that did it, never changed. */
export interface AuditEntry {
  readonly brandId: string
  /** `user:<id>`, `key:<id>`, `service:<app>`, or `delivery` for the scheduler itself. */
  readonly actor: string
  /** Noun and past participle: `post.scheduled`. */
  readonly action: string
  readonly subjectId: string
  readonly at: Date
  /** JSON-safe facts; never a text of a post, never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
}

export type Audit = (transaction: Transaction, entry: AuditEntry) => Promise<void>

/** How a viewer is named in the audit. */
export function actorOf(viewer: Viewer): string {
  if (viewer.kind === 'apiKey') return `key:${viewer.keyId}`
  if (viewer.kind === 'service') return `service:${viewer.appId}`
  return `user:${viewer.userId}`
}

export function createAudit(sequelize: Sequelize): Audit {
  return async (transaction, { brandId, actor, action, subjectId, at, details = {} }) => {
    await sequelize.query('insert into publishing.audit_entries (brand_id, id, at, actor, action, subject_id, details) values ($1, $2, $3, $4, $5, $6, $7)', {
      bind: [brandId, newId(at), at, actor, action, subjectId, JSON.stringify(details)],
      transaction,
    })
  }
}
