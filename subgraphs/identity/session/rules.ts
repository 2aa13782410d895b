import type { Claims } from '../context.ts'
import type { MembershipRow } from '../stores/membership.ts'

/** How long a session lasts without being renewed, in seconds. */
export const sessionLifetime = 7 * 24 * 3600

/** How long an access token is good for, in milliseconds. */
const accessTokenLifetime = 10 * 60_000

/** The `aud` of access tokens: every service of the platform, and nobody else. */
export const accessTokenAudience = 'supergraph'

/** What a token of this session says from now on. A person without a membership in the organization acts in personal context. */
export function claimsOf(
  session: { sessionId: string; userId: string },
  membership: Pick<MembershipRow, 'organizationId' | 'roles'> | null,
  now: Date,
): Claims {
  const iat = Math.floor(now.getTime() / 1000)
  return {
    sub: session.userId,
    sid: session.sessionId,
    ...(membership && { org: membership.organizationId }),
    ctx: membership ? 'organization' : 'personal',
    roles: membership?.roles ?? [],
    iat,
    exp: iat + accessTokenLifetime / 1000,
  }
}

/** The moment from which a token with these claims is refused. */
export const expiryOf = (claims: { readonly exp: number }): Date => new Date(claims.exp * 1000)
