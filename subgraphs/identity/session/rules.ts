import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { type Grant, rightsOf } from '../../authority.ts'
import { permissionOf, type Scope } from '../../scopes.ts'
import type { Claims } from '../context.ts'
import type { SessionKind, SwitchContextInput } from '../resolvers.generated.ts'
import type { SessionRow } from '../stores/session.ts'

/** How long a session lasts without being renewed, in seconds. */
export const sessionLifetime = 7 * 24 * 3600

/** How long an access token is good for, in milliseconds. */
export const accessTokenLifetime = 10 * 60_000

/** The `aud` of access tokens: every service of the platform, and nobody else. */
export const accessTokenAudience = 'supergraph'

/** A session whose token is made. */
export interface Claimant {
  readonly sessionId: string
  readonly userId: string
  /** Where the token is for; null: personal context. */
  readonly organizationId: string | null
  /** The person's roles there. */
  readonly roles: readonly string[]
  readonly grant?: Grant | null
}

/** What a token of this session says from now on. */
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

/** Scopes as services call them, by service; services without any are left out. */
function permissionsOf(scopes: readonly Scope[]): Claims['permissions'] {
  const byService = Map.groupBy(scopes, scope => scope.slice(0, scope.indexOf(':')))
  return Object.fromEntries([...byService].map(([service, its]) => [service, its.map(permissionOf)]))
}

/** The moment from which a token with these claims is refused. */
export const expiryOf = (claims: { readonly exp: number }): Date => new Date(claims.exp * 1000)

/** How a session began, in the graph's spelling. */
export const kindToGraph = { password: 'PASSWORD', handoff: 'HANDOFF', oauth: 'OAUTH' } as const satisfies Record<SessionRow['kind'], SessionKind>

/** The session that asks before all others, which stay in their order. */
export const currentFirst = (sessions: readonly SessionRow[], current: string | null): SessionRow[] => [
  ...sessions.filter(({ id }) => id === current),
  ...sessions.filter(({ id }) => id !== current),
]

/**
 * Where somebody wants to go on.
 * @returns the organization; null: personal context
 * @throws BAD_USER_INPUT when context and organization do not go together
 */
export function requireWhere({ context, organizationId }: SwitchContextInput): string | null {
  if (context === 'ORGANIZATION') return requireId(organizationId ?? '', 'organizationId')
  if (organizationId === null || organizationId === undefined) return null
  throw new Refusal('BAD_USER_INPUT', 'Personal context has no organization: leave organizationId out, or ask for context ORGANIZATION.', {
    field: 'organizationId',
  })
}
