import type { RetentionRule } from '../../../platform/jobs/retention.ts'
import { agingOfKeys, agingOfRecord } from '../../store/books.ts'

/** Days after which records without further use are deleted. */
export interface Retention {
  /** Days for entries of the audit log. */
  readonly auditDays: number
}

/** Retention of identity's records. Sign-in addresses and failures are limited where they are counted. */
export const agingOf = ({ auditDays }: Retention): readonly RetentionRule[] => [
  agingOfRecord('identity', auditDays, 'identity.audit_ends'),
  agingOfKeys('identity'),
  { table: 'identity.sessions', days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' },
  // Deletes mails, which contain names and addresses; mails of the last hour count for the rate limit.
  { table: 'identity.mails', days: 7, old: 'o.ended_at < $1', order: 'o.ended_at' },
  { table: 'identity.ended_sessions', days: 1, old: 'o.ended_at < $1', order: 'o.ended_at' },
  // One day longer than they are published.
  { table: 'identity.signing_keys', days: 2, old: 'o.expires_at < $1', order: 'o.expires_at' },
  { table: 'identity.invitations', days: auditDays, old: `o.updated_at < $1 and o.status <> 'pending'`, order: 'o.updated_at' },
  // As long as the audit log refers to them.
  {
    table: 'identity.api_keys',
    days: auditDays,
    old: 'coalesce(o.revoked_at, o.expires_at) < $1',
    order: 'coalesce(o.revoked_at, o.expires_at)',
  },
  { table: 'identity.key_ledgers', days: 1, old: 'o.at < $1', order: 'o.at' },
  { table: 'identity.limits', days: 1, old: 'o.ends_at < $1', order: 'o.ends_at' },
  { table: 'identity.account_requests', days: 1, old: 'o.created_at < $1', order: 'o.created_at' },
  {
    table: 'identity.users',
    // Deletes accounts whose address was never verified; nobody has signed in to such an account.
    days: 7,
    old: `not o.email_verified and o.kind = 'human' and o.created_at < $1 and o.last_signed_in_at is null
      and not exists (select from identity.memberships m where m.user_id = o.id)`,
    order: 'o.created_at',
  },
  { table: 'identity.codes', days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' },
  // A used code that is presented again revokes its tokens, so it is stored as long as those can be valid.
  { table: 'identity.oauth_codes', days: 91, old: 'o.expires_at < $1', order: 'o.expires_at' },
  { table: 'identity.oauth_codes', days: 1, old: 'o.used_at is null and o.expires_at < $1', order: 'o.expires_at' },
  {
    table: 'identity.verifications',
    days: 1,
    // A later submission of the set-up page removes the account that the former one created.
    old: `o.expires_at < $1 and o.identifier <> 'setup person'`,
    order: 'o.expires_at',
  },
]
