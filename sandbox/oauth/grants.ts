import { createHash } from 'node:crypto'
import type { Call, FaultKind } from '../network.ts'
import type { Account, Grant, OauthWorld, Tokens } from './world.ts'

/** What the stored state knows a token by. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Gives an application a permission of its own: it neither touches nor replaces earlier ones. */
export function createGrant(
  world: OauthWorld,
  { clientId, accountId, scopes, withoutRefresh = false }: Pick<Grant, 'clientId' | 'accountId' | 'scopes' | 'withoutRefresh'>,
): { grant: Grant; tokens: Tokens } {
  return issue(world, { id: world.newId(), clientId, accountId, scopes, ...(withoutRefresh && { withoutRefresh }), access: null, refresh: null, spent: [] })
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
  if (isTakenBack(world, grant)) return undefined
  if (grant.refresh?.hash !== hash) {
    world.grants.delete(grant.id)
    return undefined
  }
  if (grant.refresh.expiresAt <= world.clock.now().getTime()) return undefined
  if (world.manners.refreshStays) return issue(world, grant, refreshToken).tokens
  return issue(world, { ...grant, spent: [...grant.spent.slice(-49), hash] }).tokens
}

/** The grant behind an access token that is good now. */
export function findByAccess(world: OauthWorld, accessToken: string): Grant | undefined {
  const hash = hashOf(accessToken)
  const grant = find(world, one => one.access?.hash === hash)
  return grant?.access && grant.access.expiresAt > world.clock.now().getTime() ? grant : undefined
}

/** The user name of the account whose refresh token this is. */
export function usernameBehind(world: OauthWorld, refreshToken: string): string | undefined {
  const grant = find(world, one => one.refresh?.hash === hashOf(refreshToken))
  return grant && world.accounts.get(grant.accountId)?.username
}

/** Ends what a token stands for: a refresh token takes the grant with it, an access token goes alone. Unknown ones change nothing. */
export function revokeToken(world: OauthWorld, clientId: string, token: string): void {
  const hash = hashOf(token)
  const grant = find(world, one => one.access?.hash === hash || one.refresh?.hash === hash)
  if (!grant || grant.clientId !== clientId) return
  if (grant.refresh?.hash === hash) world.grants.delete(grant.id)
  else world.grants.set(grant.id, { ...grant, access: null })
}

/** Ends everything that an account has permitted, to whatever application. */
export function revokeAccount(world: OauthWorld, accountId: string): void {
  for (const grant of [...world.grants.values()]) if (grant.accountId === accountId) world.grants.delete(grant.id)
}

/** Who shows itself by a token, or how it does not: with a token that is not good, or was not until this call's fault. */
export type Shown =
  | { readonly grant: Grant; readonly account: Account; readonly fault?: never }
  | { readonly grant?: never; readonly account?: never; readonly fault: Extract<FaultKind, 'expired-token' | 'grant-revoked'> | null }

/**
 * Finds who calls, and spends the faults of tokens.
 * @param accessToken as the call shows it. @default the bearer of its header
 */
export function whoShows(world: OauthWorld, call: Call, accessToken = bearerOf(call)): Shown {
  const grant = accessToken === undefined ? undefined : findByAccess(world, accessToken)
  const account = grant && world.accounts.get(grant.accountId)
  if (!grant || !account) return { fault: null }
  if (isTakenBack(world, grant)) return { fault: 'grant-revoked' }
  if (world.faults.take(world.name, ['expired-token'], account.username)) return { fault: 'expired-token' }
  return { grant, account }
}

/** The access token in a call's header. */
export const bearerOf = (call: Call): string | undefined => /^Bearer (\S+)$/i.exec(call.headers.authorization ?? '')?.[1]

/** Whether a fault has just had the account take back what it permitted. */
function isTakenBack(world: OauthWorld, { accountId }: Grant): boolean {
  const account = world.accounts.get(accountId)
  if (!world.faults.take(world.name, ['grant-revoked'], account?.username)) return false
  revokeAccount(world, accountId)
  return true
}

/** @param staying a refresh token that stays good until its end */
function issue(world: OauthWorld, grant: Grant, staying?: string): { grant: Grant; tokens: Tokens } {
  const { accessLifetime, refreshLifetime, refreshScope, scopesByComma, tellsRefreshAgain = true, newToken, tell } = world.manners
  const at = world.clock.now()
  const now = at.getTime()
  const accessToken = newToken('at', at)
  const hasRefresh = !grant.withoutRefresh && (refreshScope === undefined || (refreshScope !== null && grant.scopes.includes(refreshScope)))
  const refreshToken = staying ?? (hasRefresh ? newToken('rt', at) : undefined)
  const refreshEnd = staying && grant.refresh ? grant.refresh.expiresAt : now + refreshLifetime
  const renewed: Grant = {
    ...grant,
    access: { hash: hashOf(accessToken), expiresAt: now + accessLifetime * 1000 },
    refresh: refreshToken === undefined ? null : { hash: hashOf(refreshToken), expiresAt: refreshEnd },
  }
  world.grants.set(grant.id, renewed)
  const tokens: Tokens = {
    accessToken,
    ...(refreshToken === undefined || (staying && !tellsRefreshAgain) ? {} : { refreshToken, refreshExpiresIn: Math.floor((refreshEnd - now) / 1000) }),
    expiresIn: accessLifetime,
    scope: grant.scopes.join(scopesByComma ? ',' : ' '),
  }
  return { grant: renewed, tokens: tell ? { ...tokens, told: tell(renewed, tokens) } : tokens }
}

function find(world: OauthWorld, matches: (grant: Grant) => boolean): Grant | undefined {
  return world.grants.values().find(matches)
}
