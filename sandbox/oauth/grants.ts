import { createHash } from 'node:crypto'
import type { Grant, OauthWorld } from './world.ts'

/** A fresh pair, in clear for the only time. `refreshToken` is absent without the scope that the network wants for it. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Seconds. */
  readonly expiresIn: number
  /** Separated by spaces. */
  readonly scope: string
}

/** What the stored state knows a token by. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Gives an application a permission of its own: it neither touches nor replaces earlier ones. */
export function createGrant(
  world: OauthWorld,
  { clientId, accountId, scopes }: Pick<Grant, 'clientId' | 'accountId' | 'scopes'>,
): { grant: Grant; tokens: Tokens } {
  return issue(world, { id: world.newId(), clientId, accountId, scopes, access: null, refresh: null, spent: [] })
}

/**
 * Exchanges a refresh token for a new pair; the old pair is good no more. A refresh token that was used before ends the
 * whole family, for one of its two holders is not the application.
 * @returns nothing for a token that is unknown, expired, of another application, or used
 */
export function refreshGrant(world: OauthWorld, clientId: string, refreshToken: string): Tokens | undefined {
  const hash = hashOf(refreshToken)
  const grant = find(world, one => one.refresh?.hash === hash || one.spent.includes(hash))
  if (!grant || grant.clientId !== clientId) return undefined
  if (grant.refresh?.hash !== hash) {
    world.grants.delete(grant.id)
    return undefined
  }
  if (grant.refresh.expiresAt <= world.clock.now().getTime()) return undefined
  return issue(world, { ...grant, spent: [...grant.spent.slice(-49), hash] }).tokens
}

/** The grant behind an access token that is good now. */
export function findByAccess(world: OauthWorld, accessToken: string): Grant | undefined {
  const hash = hashOf(accessToken)
  const grant = find(world, one => one.access?.hash === hash)
  return grant?.access && grant.access.expiresAt > world.clock.now().getTime() ? grant : undefined
}

/** Ends what a token stands for: a refresh token takes the grant with it, an access token goes alone. Unknown ones change nothing. */
export function revokeToken(world: OauthWorld, clientId: string, token: string): void {
  const hash = hashOf(token)
  const grant = find(world, one => one.access?.hash === hash || one.refresh?.hash === hash)
  if (!grant || grant.clientId !== clientId) return
  if (grant.refresh?.hash === hash) world.grants.delete(grant.id)
  else world.grants.set(grant.id, { ...grant, access: null })
}

function issue(world: OauthWorld, grant: Grant): { grant: Grant; tokens: Tokens } {
  const { accessLifetime, refreshLifetime, refreshScope, newToken } = world.manners
  const at = world.clock.now()
  const now = at.getTime()
  const accessToken = newToken('at', at)
  const refreshToken = grant.scopes.includes(refreshScope) ? newToken('rt', at) : undefined
  const renewed: Grant = {
    ...grant,
    access: { hash: hashOf(accessToken), expiresAt: now + accessLifetime * 1000 },
    refresh: refreshToken === undefined ? null : { hash: hashOf(refreshToken), expiresAt: now + refreshLifetime },
  }
  world.grants.set(grant.id, renewed)
  return {
    grant: renewed,
    tokens: { accessToken, ...(refreshToken === undefined ? {} : { refreshToken }), expiresIn: accessLifetime, scope: grant.scopes.join(' ') },
  }
}

function find(world: OauthWorld, matches: (grant: Grant) => boolean): Grant | undefined {
  return world.grants.values().find(matches)
}
