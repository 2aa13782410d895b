import type pg from 'pg'
import type { Logger } from 'pino'
import { causeId, originNow } from '../../../platform/caller/cause.ts'
import type { Clock } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'
import { toStored } from '../../../platform/smtp/mail-address.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, table, text, uuid } from '../../../platform/sql/table.ts'
import type { Entry, Recording } from '../../store/books.ts'
import { store } from '../../store/store.ts'
import { personOf, type Viewer } from '../../viewer.ts'

/**
 * All actions in identity's audit log, with the kind of record that each concerns. Writing an unknown action fails; a
 * test checks that each one is written somewhere.
 */
export const targetTypes = {
  'account.created': 'user',
  'account.suspended': 'user',
  'account.reinstated': 'user',
  'session.created': 'session',
  'session.refused': 'user',
  'session.revoked': 'session',
  'context.switched': 'session',
  'password.reset_requested': 'user',
  'password.reset': 'user',
  'password.changed': 'user',
  'email.verified': 'user',
  'email.changed': 'user',
  'recovery_email.set': 'user',
  'recovery_email.verified': 'user',
  'recovery_email.removed': 'user',
  'organization.created': 'organization',
  'organization.updated': 'organization',
  'invitation.created': 'invitation',
  'invitation.resent': 'invitation',
  'invitation.accepted': 'invitation',
  'invitation.declined': 'invitation',
  'invitation.revoked': 'invitation',
  'membership.added': 'membership',
  'membership.roles_changed': 'membership',
  'membership.removed': 'membership',
  'service_account.created': 'user',
  'api_key.created': 'api_key',
  'api_key.rotated': 'api_key',
  'api_key.revoked': 'api_key',
  'handoff.created': 'handoff',
  'handoff.exchanged': 'handoff',
  'handoff.refused': 'handoff',
  'consent.granted': 'consent',
  'consent.revoked': 'consent',
  'oauth.token_reused': 'session',
  'oauth_client.created': 'oauth_client',
  'oauth_client.updated': 'oauth_client',
  'oauth_client.disabled': 'oauth_client',
  'signing_key.rotated': 'signing_key',
  'service.conflict': 'service',
  'service.maintenance_set': 'service',
  'service.maintenance_ended': 'service',
} as const

export type Action = keyof typeof targetTypes

export const isAction = (action: string): action is Action => Object.hasOwn(targetTypes, action)

/** Audit entries about people, organizations and credentials. The database rejects changes of an entry. */
export const auditEntries = table('identity.audit_entries', {
  /** Organization of the entry; for entries without one, the person. */
  tenantId: uuid.key,
  id: uuid.key,
  at: moment,
  /** Author as `actorOf` names it; `platform` and the like for automatic actions. */
  actor: text,
  action: text,
  subjectId: uuid,
  details: json.of<Readonly<Record<string, unknown>>>().or({}),
  /** The person who acted, or for whom a service or a key did. */
  userId: uuid.maybe,
  /** The app: of a service, or of an OAuth client that acted for the person. */
  appId: text.maybe,
  /** Person whose account the entry concerns. */
  personId: uuid.maybe,
  ipAddress: text.maybe,
  userAgent: text.maybe,
  requestId: text.maybe,
})

export type AuditEntryRow = Row<typeof auditEntries>

const appOf = ({ appId, clientId }: Viewer): string | null => appId ?? clientId

/** Returns the person for whom another viewer acts, whom the entry names separately. */
const actingPerson = (actor: string, viewer: Viewer | null): string | null => personOf(actor) ?? viewer?.onBehalfOf ?? viewer?.userId ?? null

/** Maximum number of details of an entry. */
export const mostDetails = 20

/** Writes an entry with the request's origin, which is added automatically. @throws for an unknown action */
export const auditRecording: Recording = {
  statement: statement(
    `insert into identity.audit_entries
       (tenant_id, id, at, actor, action, subject_id, details, user_id, app_id, person_id, ip_address, user_agent, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
  ),
  values({ tenantId, id, at, actor, action, subjectId, details, personId, viewer }: Entry) {
    if (!isAction(action)) throw new Error(`${action} is not on the list of what identity's record tells (targetTypes)`)
    if (Object.keys(details).length > mostDetails) throw new Error(`an entry of the record has at most ${mostDetails} details`)
    const { address = null, agent = null } = originNow() ?? {}
    const entry = [tenantId, id, at, actor, action, subjectId, JSON.stringify(details)]
    return [...entry, actingPerson(actor, viewer), viewer && appOf(viewer), personId ?? null, address, agent, causeId() ?? null]
  },
}

const sorted = { by: 'at', way: 'desc', name: 'newest' } as const

/** Audit log of the active organization; callers must be allowed to read it. */
export const auditEntryStore = store(auditEntries, {
  what: 'entry of the record',
  tenancy: { by: 'tenantId' },
  filters: { action: 'eq', userId: 'eq', at: 'range' },
  sorted,
})

/** Audit entries about a person's own account, in any organization. */
export const accountEntryStore = store(auditEntries, {
  what: 'entry of the record',
  tenancy: { where: 't.person_id = :person' },
  filters: {},
  sorted,
})

/**
 * Maximum number of failed sign-ins of one account that are recorded within a time in ms, so that guessing does not
 * fill the table.
 */
const refusals = { most: 10, withinMs: 15 * 60_000 }

const insertRefused = `
  insert into identity.audit_entries (tenant_id, id, at, actor, action, subject_id, person_id, ip_address, user_agent, request_id)
  select u.id, $2, $3, 'anonymous', 'session.refused', u.id, u.id, $4, $5, $6
    from identity.users u
   where u.email = $1
     and (select count(*) from identity.audit_entries e where e.person_id = u.id and e.at > $7 and e.action = 'session.refused') < $8`

/** The fields of a credential library's session that the audit log uses. */
export interface NotedSession {
  readonly id: string
  readonly userId: string
  readonly organizationId: string | null
}

/** Writes audit entries for the credential library, on the credentials' pool. */
export function createCredentialRecord(pool: pg.Pool, clock: Clock, log: Logger) {
  const underWay = new Set<Promise<unknown>>()
  return {
    /** Called before the answer, so that every session has an audit entry. */
    async began({ id, userId, organizationId }: NotedSession): Promise<void> {
      const at = clock.now()
      const of = { tenantId: organizationId ?? userId, personId: userId, subjectId: id }
      const entry = { ...of, id: newId(at), at, actor: `user:${userId}`, viewer: null, action: 'session.created', details: { kind: 'password' } }
      const { statement: insert, values } = auditRecording
      await pool.query({ name: 'record of credentials', text: insert.text, values: [...values(entry)] })
    },
    /**
     * Records a wrong password for an existing account, in parallel to the answer, whose time and content do not depend
     * on it. The first ten of an account within a quarter of an hour are recorded, which suffices to recognize
     * guessing.
     */
    refused(email: string): void {
      const at = clock.now()
      const { address = null, agent = null } = originNow() ?? {}
      const since = new Date(at.getTime() - refusals.withinMs)
      const values = [toStored(email), newId(at), at, address, agent, causeId() ?? null, since, refusals.most]
      const writing = pool
        .query({ name: 'record of a refusal', text: insertRefused, values })
        .catch(error => log.error({ err: error }, 'refused sign-in could not be written to the audit log'))
        .finally(() => underWay.delete(writing))
      underWay.add(writing)
    },
    /** Resolves when all failed sign-ins are recorded. */
    settle: () => Promise.all(underWay),
  }
}
