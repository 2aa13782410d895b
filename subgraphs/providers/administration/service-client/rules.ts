import { DomainError } from '../../../../platform/errors.ts'
import { reservedOperations, type ServiceOperation } from '../../../scopes.ts'

/** Maximum numbers of clients and tokens. */
export const most = {
  clients: 200,
  /** Valid tokens of one client. */
  standing: 20,
  /** Tokens of one client, ended ones included. */
  tokens: 50,
} as const

/** Returns the clear text of a token from 32 random bytes: a recognizable prefix for secret scanners, and base64url. */
export const writeToken = (random: Buffer): string => `sgs_${random.toString('base64url')}`

/** The part by which people recognise a token. */
export const prefixOf = (clear: string): string => clear.slice(0, 12)

/** @throws BAD_USER_INPUT for an invalid app id */
export function readAppId(given: string): string {
  if (/^app_[a-z0-9_]{1,60}$/.test(given)) return given
  throw new DomainError('BAD_USER_INPUT', 'appId is "app_" and then 1 to 60 lower-case letters, digits and "_", such as app_support.', { field: 'appId' })
}

/**
 * Reads the operations of an app's client, sorted, without duplicates.
 * @throws BAD_USER_INPUT for one that is reserved for other apps
 */
export function readOperations(appId: string, given: readonly ServiceOperation[]): readonly ServiceOperation[] {
  for (const operation of given) {
    const apps = reservedOperations[operation]
    if (apps && !apps.includes(appId))
      throw new DomainError('BAD_USER_INPUT', `operations names ${operation}, which only ${apps.join(' and ')} can have: leave it out for ${appId}.`, {
        field: 'operations',
      })
  }
  return [...new Set(given)].sort()
}

/** @throws BAD_USER_INPUT for a moment that has passed */
export function readExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt && expiresAt <= now)
    throw new DomainError('BAD_USER_INPUT', 'expiresAt has passed already: name a later moment, or leave it out for a token without end.', {
      field: 'expiresAt',
    })
  return expiresAt
}
