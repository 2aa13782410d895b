import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { type Grant, rightsOf } from '../../authority.ts'
import { permissionOf, type Scope } from '../../scopes.ts'
import type { Claims } from '../context.ts'
import type { SessionKind, SwitchContextInput } from '../resolvers.generated.ts'
import type { SessionRow } from '../stores/session.ts'

/** Lifetime of a session without renewal, in seconds. */
export const sessionLifetime = 7 * 24 * 3600

/** Lifetime of an access token, in milliseconds. */
export const accessTokenLifetime = 10 * 60_000

/** The `aud` of access tokens: every service of the platform. */
export const accessTokenAudience = 'supergraph'

/** A session for which a token is created. */
export interface Claimant {
  readonly sessionId: string
  readonly userId: string
  /** Organization of the token; null for personal context. */
  readonly organizationId: string | null
  /** The person's roles in the organization. */
  readonly roles: readonly string[]
  readonly grant?: Grant | null
}

/** Returns the claims of a session's new token. */
export function claimsOf({ sessionId, userId, organizationId, roles, grant = null }: Claimant, now: Date): Claims {
  const iat = Math.floor(now.getTime() / 1000)
  const rights = rightsOf({ organizationId, roles }, grant)
  return {
    sub: userId,
    sid: sessionId,
    ...(organizationId !== null && { org: organizationId }),
    ctx: organizationId === null ? 'personal' : 'organization',
    roles: rights.roles,
    permissions: permissionsOf(rights.scopes),
    ...(grant && { client_id: grant.clientId, scope: grant.scopes.join(' ') }),
    iat,
    exp: iat + accessTokenLifetime / 1000,
  }
}

/** Returns scopes by service, in the services' names; services without any are omitted. */
function permissionsOf(scopes: readonly Scope[]): Claims['permissions'] {
  const byService = Map.groupBy(scopes, scope => scope.slice(0, scope.indexOf(':')))
  return Object.fromEntries([...byService].map(([service, its]) => [service, its.map(permissionOf)]))
}

/** Returns the moment from which a token with these claims is rejected. */
export const expiryOf = (claims: { readonly exp: number }): Date => new Date(claims.exp * 1000)

/** Kinds of sessions, in the graph's spelling. */
export const kindToGraph = { password: 'PASSWORD', handoff: 'HANDOFF', oauth: 'OAUTH' } as const satisfies Record<SessionRow['kind'], SessionKind>

/** Sorts the caller's session first; the others keep their order. */
export const currentFirst = (sessions: readonly SessionRow[], current: string | null): SessionRow[] => [
  ...sessions.filter(({ id }) => id === current),
  ...sessions.filter(({ id }) => id !== current),
]

/**
 * Returns the organization to switch to; null for personal context.
 * @throws BAD_USER_INPUT when context and organization contradict each other
 */
export function requireWhere({ context, organizationId }: SwitchContextInput): string | null {
  if (context === 'ORGANIZATION') return requireId(organizationId ?? '', 'organizationId')
  if (organizationId === null || organizationId === undefined) return null
  throw new DomainError('BAD_USER_INPUT', 'Personal context has no organization: leave organizationId out, or ask for context ORGANIZATION.', {
    field: 'organizationId',
  })
}
