import { Refusal } from '../../../../platform/errors.ts'
import { reservedOperations, type ServiceOperation } from '../../../scopes.ts'

/** The most that there may be. */
export const most = {
  clients: 200,
  /** Of one client, those that count. */
  standing: 20,
  /** Of one client, those that ended included. */
  tokens: 50,
} as const

/** Makes a token's clear text of 32 random bytes: a recognisable prefix, so that scanners find one that leaked, and base64url. */
export const writeToken = (random: Buffer): string => `sgs_${random.toString('base64url')}`

/** The part by which people recognise a token. */
export const prefixOf = (clear: string): string => clear.slice(0, 12)

/** @throws BAD_USER_INPUT for what no app is called */
export function readAppId(given: string): string {
  if (/^app_[a-z0-9_]{1,60}$/.test(given)) return given
  throw new Refusal('BAD_USER_INPUT', 'appId is "app_" and then 1 to 60 lower-case letters, digits and "_", such as app_support.', { field: 'appId' })
}

/**
 * Reads what a client of an app may have done: each operation once, in their order.
 * @throws BAD_USER_INPUT for one that is reserved for other apps
 */
export function readOperations(appId: string, given: readonly ServiceOperation[]): readonly ServiceOperation[] {
  for (const operation of given) {
    const apps = reservedOperations[operation]
    if (apps && !apps.includes(appId))
      throw new Refusal('BAD_USER_INPUT', `operations names ${operation}, which only ${apps.join(' and ')} can have: leave it out for ${appId}.`, {
        field: 'operations',
      })
  }
  return [...new Set(given)].sort()
}

/** @throws BAD_USER_INPUT for a moment that has passed */
export function readExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now)
    throw new Refusal('BAD_USER_INPUT', 'expiresAt has passed already: name a later moment, or leave it out for a token without end.', { field: 'expiresAt' })
  return expiresAt
}
