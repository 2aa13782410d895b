import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { readId } from '../../../platform/ids.ts'
import type { WayOut } from '../../../platform/outbound/outbound.ts'
import type { WidgetChange } from './changes.ts'

/** How far ahead a token may end, in seconds. */
const lifeSeconds = 60
/** Time in ms for which an app's keys are remembered. */
const keysKeptMs = 300_000
const maxApps = 1_000

/** Keys of apps, as they publish them. */
export interface AppKeys {
  /** Returns the keys at an address; null when there are none to be had. @param anew reads them again */
  at(url: string, anew: boolean): Promise<JSONWebKeySet | null>
}

/** Opens the keys of apps: each address is read once in five minutes, or when a token names a key that is not known. */
export function openAppKeys(outbound: WayOut, clock: Clock): AppKeys {
  const known = new Map<string, { readonly keys: JSONWebKeySet; readonly until: number }>()
  return {
    async at(url, anew) {
      const now = clock.now().getTime()
      const present = known.get(url)
      if (present && !anew && now < present.until) return present.keys
      try {
        const { status, text } = await outbound(url, { headers: { accept: 'application/json' }, timeoutMs: 3_000 })
        const keys = status === 200 ? (JSON.parse(text) as JSONWebKeySet) : null
        if (!keys || !Array.isArray(keys.keys)) return null
        if (known.size >= maxApps) known.clear()
        known.set(url, { keys, until: now + keysKeptMs })
        return keys
      } catch {
        return null
      }
    },
  }
}

const refused = () => new DomainError('UNAUTHENTICATED', 'The token is not signed by a key of the app: sign it with one that the app publishes.')
const stale = (why: string) => new DomainError('BAD_USER_INPUT', `The token ${why}: make a new one for each message, which ends within ${lifeSeconds} seconds.`)

/** The app that a token says it comes from, before anything is checked. @throws UNAUTHENTICATED for what is no token */
export function claimedApp(authorization: string | null): { readonly token: string; readonly app: string } {
  const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization ?? '')?.[1]
  if (token === undefined) throw refused()
  try {
    const { iss } = decodeJwt(token)
    if (typeof iss === 'string' && iss.length <= 80) return { token, app: iss }
  } catch {
    // The sentence below says it.
  }
  throw refused()
}

export interface Checking {
  readonly keysUrl: string
  readonly audience: string
  readonly now: Date
  readonly keys: AppKeys
}

/**
 * Checks a token of an app: its signature by a key that the app publishes, and that it was made for us just now.
 * @returns what identifies the token, and when it ends: each counts once
 * @throws UNAUTHENTICATED for a forged one; BAD_USER_INPUT for a stale one
 */
export async function checkToken(
  token: string,
  app: string,
  { keysUrl, audience, now, keys }: Checking,
): Promise<{ readonly hash: Buffer; readonly endsAt: Date }> {
  async function verify(anew: boolean) {
    const set = await keys.at(keysUrl, anew)
    if (!set) throw refused()
    return jwtVerify(token, createLocalJWKSet(set), {
      issuer: app,
      audience,
      currentDate: now,
      requiredClaims: ['exp', 'jti'],
      algorithms: ['EdDSA', 'ES256', 'RS256'],
    })
  }
  const { payload } = await verify(false)
    .catch(error => (error instanceof errors.JWKSNoMatchingKey ? verify(true) : Promise.reject(error)))
    .catch(error => {
      throw error instanceof errors.JWTExpired ? stale('has ended') : refused()
    })
  const seconds = payload.exp! - now.getTime() / 1_000
  if (seconds > lifeSeconds + 1) throw stale('ends too late')
  return { hash: createHash('sha256').update(`${app} ${payload.jti}`).digest(), endsAt: new Date(payload.exp! * 1_000) }
}

/** Reads what changed. @throws BAD_USER_INPUT when neither an organization nor a person is named */
export function readChange(app: string, { organizationId, userId }: Readonly<Record<string, unknown>>): WidgetChange {
  const idOf = (value: unknown, field: string) => readId(value === undefined || value === null ? null : String(value), field)
  const change = { app, organizationId: idOf(organizationId, 'organizationId'), userId: idOf(userId, 'userId') }
  if (change.organizationId ?? change.userId) return change
  throw new DomainError('BAD_USER_INPUT', 'Say whose widget changed: organizationId, userId or both.', { field: 'organizationId' })
}

/** Refuses a token that was used before. */
export const usedBefore = () => stale('was used before')
