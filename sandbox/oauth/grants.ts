import { createHash } from 'node:crypto'
import type { Call, FaultKind } from '../network.ts'
import type { Account, Grant, OauthWorld, Tokens } from './world.ts'

/** Returns the hash under which a token is stored. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Creates a separate grant for an application; earlier grants stay unchanged. */
export function createGrant(
  world: OauthWorld,
  { clientId, accountId, scopes, withoutRefresh = false }: Pick<Grant, 'clientId' | 'accountId' | 'scopes' | 'withoutRefresh'>,
): { grant: Grant; tokens: Tokens } {
  return issue(world, { id: world.newId(), clientId, accountId, scopes, ...(withoutRefresh && { withoutRefresh }), access: null, refresh: null, spent: [] })
}

/**
 * Exchanges a refresh token for a new pair and invalidates the old pair. Reuse of an exchanged refresh token revokes
 * the whole family, because one of its two holders is an attacker.
 * @returns undefined for a token that is unknown, expired, used, or of another application
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
  if (world.behaviour.refreshStays) return issue(world, grant, refreshToken).tokens
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

/** Revokes a token: a refresh token together with its grant, an access token alone. Unknown tokens change nothing. */
export function revokeToken(world: OauthWorld, clientId: string, token: string): void {
  const hash = hashOf(token)
  const grant = find(world, one => one.access?.hash === hash || one.refresh?.hash === hash)
  if (!grant || grant.clientId !== clientId) return
  if (grant.refresh?.hash === hash) world.grants.delete(grant.id)
  else world.grants.set(grant.id, { ...grant, access: null })
}

/** Revokes every grant of an account, of every application. */
export function revokeAccount(world: OauthWorld, accountId: string): void {
  for (const grant of [...world.grants.values()]) if (grant.accountId === accountId) world.grants.delete(grant.id)
}

/**
 * Result of checking the token of a call: the grant it belongs to, or why the token is invalid, including a fault of
 * this call.
 */
export type Shown =
  | { readonly grant: Grant; readonly account: Account; readonly fault?: never }
  | { readonly grant?: never; readonly account?: never; readonly fault: Extract<FaultKind, 'expired-token' | 'grant-revoked'> | null }

/**
 * Finds the grant of a call's token, and uses up faults on tokens.
 * @param accessToken token of the call. @default the bearer token of its header
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

/** Whether an armed fault has just revoked the account's grants. */
function isTakenBack(world: OauthWorld, { accountId }: Grant): boolean {
  const account = world.accounts.get(accountId)
  if (!world.faults.take(world.name, ['grant-revoked'], account?.username)) return false
  revokeAccount(world, accountId)
  return true
}

/** @param staying refresh token that stays valid until it expires */
function issue(world: OauthWorld, grant: Grant, staying?: string): { grant: Grant; tokens: Tokens } {
  const { accessLifetime, refreshLifetime, refreshScope, scopesByComma, tellsRefreshAgain = true, newToken, tell } = world.behaviour
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
