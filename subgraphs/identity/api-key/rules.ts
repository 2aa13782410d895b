import { hashOfSecret } from '../../../platform/cipher.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isScope, type Scope, type Slug, slugs } from '../../scopes.ts'
import type { Viewer } from '../../viewer.ts'
import { canManageOrganization, requireOrganization } from '../membership/rules.ts'
import type { ApiKeyRow, KeyState } from '../stores/api-key.ts'

/** Number of characters of a key that stay visible after its creation. */
const shownLength = 12

/** Maximum, and default, requests a minute of a key. */
const mostRate = 6000
const usualRate = 600

/** Maximum, and default, seconds for which a former secret stays valid. */
const longestGrace = 7 * 24 * 3600
const usualGrace = 24 * 3600

/** Returns the clear text of a key from 32 random bytes: a recognizable prefix for secret scanners, and base64url. */
export const writeKey = (random: Buffer): string => `sgk_${random.toString('base64url')}`

/** The part by which people recognise a key. */
export const prefixOf = (clear: string): string => clear.slice(0, shownLength)

/** The stored form of a secret. */
export const keptOf = (clear: string): Pick<ApiKeyRow, 'hash' | 'prefix'> => ({ hash: hashOfSecret(clear), prefix: prefixOf(clear) })

/** The keys that a viewer may manage: those of certain services, or all of the organization for its managers. */
export interface KeyManager {
  readonly organizationId: string
  readonly services: readonly Slug[] | 'all'
}

/** @throws FORBIDDEN for a viewer who neither manages the organization nor has `api_keys.write` of any service */
export function requireKeyManager(viewer: Viewer): KeyManager {
  const organizationId = requireOrganization(viewer)
  if (canManageOrganization(viewer)) return { organizationId, services: 'all' }
  const services = slugs.filter(slug => viewer.scopes.includes(`${slug}:api_keys.write`))
  if (services.length > 0) return { organizationId, services }
  throw new DomainError(
    'FORBIDDEN',
    'Only an owner or an admin of the organization may manage its API keys, and for one service who has api_keys.write of it: ask one of them.',
  )
}

/** Whether the manager may see a key. */
export const canManage = ({ services }: KeyManager, { service }: Pick<ApiKeyRow, 'service'>): boolean =>
  services === 'all' || services.some(slug => slug === service)

/**
 * Reads the slug of a service; null for none.
 * @throws BAD_USER_INPUT for a service without scopes
 */
export function readService(named: string | null | undefined): Slug | null {
  if (named === null || named === undefined) return null
  const slug = slugs.find(each => each === named)
  if (slug) return slug
  throw new DomainError('BAD_USER_INPUT', `service names "${named.slice(0, 80)}", which is no service that takes keys: it is one of ${slugs.join(', ')}.`, {
    field: 'service',
  })
}

/** Scopes of a new key, and their service. */
export interface Rights {
  readonly service: Slug
  readonly scopes: Scope[]
}

/**
 * Reads the scopes of a new key: full names of the catalogue, or with a service its scopes (`posts.read`) or
 * permissions (`posts:read`); all must belong to one service.
 * @returns full names, sorted, without duplicates
 * @throws BAD_USER_INPUT for none, for an unknown one, and for scopes of several services
 */
export function readScopes(asked: readonly string[], service: Slug | null): Rights {
  const wrong = (sentence: string) => new DomainError('BAD_USER_INPUT', sentence, { field: 'scopes' })
  if (asked.length === 0) throw wrong('scopes is empty: a key without scopes could do nothing.')
  const scopes = asked.map(name => {
    const scope = isScope(name) || !service ? name : `${service}:${name.replace(':', '.')}`
    if (isScope(scope)) return scope
    const form = service ? `a scope of ${service}, such as posts.read or posts:read` : 'service:scope, such as publishing:posts.read, or say which service'
    throw wrong(`scopes names "${name.slice(0, 80)}", which is not in the catalogue: write ${form}, without wildcards.`)
  })
  const of = service ?? serviceOf(scopes[0]!)
  const stranger = scopes.find(scope => serviceOf(scope) !== of)
  if (stranger) throw wrong(`scopes names ${stranger}, which is not of ${of}: a key is for one service, so make one for each.`)
  return { service: of, scopes: [...new Set(scopes)].sort() }
}

const serviceOf = (scope: string): Slug => scope.split(':')[0] as Slug

/** Returns the service of all these scopes; null when they belong to several. */
export function serviceOfAll(scopes: readonly string[]): Slug | null {
  const [one, ...others] = new Set(scopes.map(serviceOf))
  return others.length === 0 ? (one ?? null) : null
}

/**
 * Checks that a viewer may issue a secret with these scopes.
 * @throws FORBIDDEN for a scope that the viewer lacks, and for a service whose keys the viewer does not manage
 */
export function requireMayGive(viewer: Pick<Viewer, 'scopes'>, manager: KeyManager, { service, scopes }: Pick<ApiKeyRow, 'service' | 'scopes'>): void {
  const lacking = scopes.find(scope => !viewer.scopes.includes(scope))
  if (lacking !== undefined) throw new DomainError('FORBIDDEN', `You do not have ${lacking} yourself, so you cannot give it to a key.`, { field: 'scopes' })
  if (!canManage(manager, { service }))
    throw new DomainError('FORBIDDEN', `You do not have ${service}:api_keys.write, so you cannot make keys of ${service}.`, { field: 'scopes' })
}

/** @throws FORBIDDEN for a key that acts as a service account, unless the viewer manages all keys */
export function requireMayActAs({ services }: KeyManager, serviceAccountId: string | null): void {
  if (serviceAccountId === null || services === 'all') return
  throw new DomainError('FORBIDDEN', 'Only an owner or an admin of the organization may handle keys that act as a service account: ask one of them.', {
    field: 'serviceAccountId',
  })
}

/** @throws BAD_USER_INPUT for a moment that is not in the future */
export function readExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now)
    throw new DomainError('BAD_USER_INPUT', 'expiresAt lies in the past: choose a later moment, or leave it out for a key that does not expire.', {
      field: 'expiresAt',
    })
  return expiresAt
}

/** @throws BAD_USER_INPUT for a number outside the limits */
export function readRateLimit(given: number | null | undefined): number {
  const rate = given ?? usualRate
  if (rate >= 1 && rate <= mostRate) return rate
  throw new DomainError('BAD_USER_INPUT', `rateLimit is ${rate}: a key may be used for 1 to ${mostRate} requests a minute.`, { field: 'rateLimit' })
}

/** @throws BAD_USER_INPUT for too many or negative seconds */
export function readGrace(given: number | null | undefined): number {
  const seconds = given ?? usualGrace
  if (seconds >= 0 && seconds <= longestGrace) return seconds
  throw new DomainError('BAD_USER_INPUT', `graceSeconds is ${seconds}: a former secret may go on working for 0 to ${longestGrace} seconds.`, {
    field: 'graceSeconds',
  })
}

/** Whether a key still works. */
export function stateOf({ revokedAt, expiresAt }: Pick<ApiKeyRow, 'revokedAt' | 'expiresAt'>, now: Date): KeyState {
  if (revokedAt) return 'REVOKED'
  return expiresAt && expiresAt <= now ? 'EXPIRED' : 'ACTIVE'
}

/** Returns the former secret while it is valid; null otherwise. */
export function formerOf(key: ApiKeyRow, now: Date): { readonly prefix: string; readonly endsAt: Date } | null {
  const { previousPrefix: prefix, previousEndsAt: endsAt } = key
  return prefix && endsAt && endsAt > now && stateOf(key, now) === 'ACTIVE' ? { prefix, endsAt } : null
}

/**
 * Rotates a key: the present secret becomes the former one, and the one before is invalidated.
 * @param kept stored form of the new secret
 * @param graceSeconds how long the present one stays valid; never longer than the key itself
 * @throws CONFLICT for a key that has ended
 */
export function rotate(key: ApiKeyRow, kept: Pick<ApiKeyRow, 'hash' | 'prefix'>, graceSeconds: number, now: Date): Partial<ApiKeyRow> {
  const state = stateOf(key, now)
  if (state !== 'ACTIVE')
    throw new DomainError('CONFLICT', `The API key ${state === 'REVOKED' ? 'was revoked' : 'has expired'}, and gets no new secret: make another key.`)
  const ends = Math.min(now.getTime() + graceSeconds * 1000, key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY)
  const former =
    graceSeconds === 0
      ? { previousHash: null, previousPrefix: null, previousEndsAt: null }
      : { previousHash: key.hash, previousPrefix: key.prefix, previousEndsAt: new Date(ends) }
  return { ...kept, ...former, rotatedAt: now }
}
