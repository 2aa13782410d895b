import { DomainError } from '../../../../platform/errors.ts'
import type { Viewer } from '../../../viewer.ts'
import type { Level } from '../../stores/credential/credential.ts'
import type { DomainKind, DomainStatus, RecordPurpose, Seen, SenderDomainRow } from '../../stores/email/domain.ts'
import { readDomainName } from '../address.ts'

/** Maximum domains of an organization, and of the platform. */
export const mostDomains = 20

/**
 * Time in ms for which a domain waits for its records before another organization may claim it, so that a claim without
 * control of the DNS does not block the owner.
 */
export const unprovenMs = 7 * 24 * 3_600_000

/** Interval in ms at which a domain's records are looked up. */
export const lookAgainMs = 24 * 3_600_000

/** State machine of a domain. Rows are states, columns are verbs. */
export const transitions = {
  PENDING: { prove: 'VERIFIED', suspend: 'SUSPENDED' },
  VERIFIED: { disprove: 'FAILED', suspend: 'SUSPENDED' },
  FAILED: { prove: 'VERIFIED', suspend: 'SUSPENDED' },
  // Lifting a suspension causes a new lookup.
  SUSPENDED: { restore: 'PENDING' },
} as const satisfies Readonly<Record<DomainStatus, Readonly<Record<string, DomainStatus>>>>

const purposes: readonly RecordPurpose[] = ['OWNERSHIP', 'SPF', 'DKIM', 'DMARC', 'RETURN_PATH']

/**
 * Returns a domain's state after a lookup. Records without an answer keep their former state.
 * @param looked results for each answered record
 */
export function look({ status, seen }: Pick<SenderDomainRow, 'status' | 'seen'>, looked: Seen): { readonly status: DomainStatus; readonly seen: Seen } {
  const now = { ...seen, ...looked }
  const isProven = purposes.every(purpose => now[purpose] === 'FOUND')
  // Only an answer counts against a domain: a lookup without an answer says nothing.
  const isDisproven = Object.values(looked).some(each => each !== 'FOUND')
  if (status === 'SUSPENDED') return { status, seen: now }
  if (isProven) return { status: 'VERIFIED', seen: now }
  return { status: status === 'VERIFIED' && isDisproven ? 'FAILED' : status, seen: now }
}

/** Returns from when a domain waits after a transition: when its records are gone, or its suspension ends. */
export const claimOf = (before: DomainStatus, after: DomainStatus, now: Date): { readonly claimedAt?: Date } =>
  before !== after && (after === 'FAILED' || after === 'PENDING') ? { claimedAt: now } : {}

/** Whether a claim to a name has lapsed: it was unproven for long enough. */
export function hasLapsed(
  { status, level, claimedAt, createdAt, updatedAt }: Pick<SenderDomainRow, 'status' | 'level' | 'claimedAt' | 'createdAt' | 'updatedAt'>,
  now: Date,
): boolean {
  if (level !== 'ORGANIZATION' || (status !== 'PENDING' && status !== 'FAILED')) return false
  const since = claimedAt ?? (status === 'FAILED' ? updatedAt : createdAt)
  return now.getTime() - since.getTime() >= unprovenMs
}

/** Matches names that cannot send mail: of this machine, of private networks, and of examples. */
const nobodys = /(?:^|\.)(?:localhost|local|internal|invalid|onion|arpa|home\.arpa)$/

/** @throws BAD_USER_INPUT for a name that nobody can register */
export function requireDomainName(given: string): string {
  const name = readDomainName(given)
  const refuse = (why: string): never => {
    throw new DomainError('BAD_USER_INPUT', `domain ${why}: name one that you can set records for, such as mail.example.com.`, { field: 'domain' })
  }
  if (name === null) return refuse('is no name of a domain')
  // Records are below the domain, the longest of them below _domainkey.
  if (name.length > 220) return refuse('is too long for the records below it')
  if (nobodys.test(name)) return refuse('is nobody’s to set records for')
  return name
}

/** @throws BAD_USER_INPUT for the platform's kind at another level */
export function requireKind(kind: DomainKind, level: Level): void {
  if (kind === 'PLATFORM_EMAIL' && level !== 'PLATFORM')
    throw new DomainError('BAD_USER_INPUT', 'Domains of the kind PLATFORM_EMAIL are the platform’s: leave kind out, or give level PLATFORM.', { field: 'kind' })
}

/** Whether a viewer administers the platform: as a person in its organization. */
const isAdmin = (role: string, { kind, userId, roles, clientId }: Viewer): boolean =>
  kind === 'user' && userId !== null && clientId === null && roles.includes(role)

/**
 * @throws FORBIDDEN unless the viewer is a super admin of the platform: everyone sees the platform's, and only they
 * change it
 */
export function requireMailChanger(viewer: Viewer): void {
  if (isAdmin('platform_super_admin', viewer)) return
  throw new DomainError('FORBIDDEN', 'What the platform sends from is changed by its super admins alone, in the organization "admin": ask one of them.')
}
