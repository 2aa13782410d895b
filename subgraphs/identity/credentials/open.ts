import type { Logger } from 'pino'
import type { Authority } from '../../authority.ts'
import type { Foundation } from '../../subgraph.ts'
import { createKeyVerifier } from '../api-key/verify.ts'
import type { Claims } from '../context.ts'
import { createSessionOfToken } from '../session/ending.ts'
import { claimsOf, sessionLifetime } from '../session/rules.ts'
import { createSessionReader } from '../stores/session.ts'
import { createAttempts } from './attempts.ts'
import { createAuthority } from './authority.ts'
import { createHttp } from './http.ts'
import type { IdentitySettings } from './settings.ts'
import { endSigningKeys, readPublicKeys, replaceForeignKeys } from './signing-keys.ts'

/** Credentials of one platform: what checks them, makes them and ends them. */
export interface Credentials {
  readonly authority: Authority
  /** Answers the credential endpoints. */
  http(request: Request): Promise<Response>
  /** Makes an access token. */
  sign(claims: Claims): Promise<string>
  /** Loads the library that makes credentials. */
  load(): Promise<unknown>
  /** Signs from now on with a new key. @param distrust whether tokens of the keys before are refused at once */
  rotate(distrust: boolean): Promise<void>
  /** Rejects while no access token can be signed. */
  ready(): Promise<void>
  stop(): Promise<void>
}

/** Opens them on a pool of their own: what is asked with every request waits for nothing else. */
export function openCredentials(foundation: Foundation, settings: IdentitySettings, log: Logger): Credentials {
  const { clock, publicUrl } = foundation
  const pool = foundation.openPool({ use: 'credentials', name: 'identity', schema: 'identity' })
  const sessions = createSessionReader(pool, clock)
  const keys = createKeyVerifier(pool, clock, log)
  const ownKeys = once(async () => {
    if (await replaceForeignKeys(pool, settings.secret, clock.now()))
      log.warn('the signing keys were made with another AUTH_SECRET: there is a new one, and every session has ended')
  })
  const auth = once(async () => {
    const [{ openAuth }] = await Promise.all([import('./auth.ts'), ownKeys()])
    return openAuth(pool, publicUrl, settings, {
      clock,
      log,
      async organizationAtSignIn(userId) {
        await sessions.dropExpired(userId)
        return sessions.organizationAtSignIn(userId)
      },
      async claims({ organizationId, ...session }) {
        const roles = organizationId && (await sessions.rolesIn(organizationId, session.userId))
        return claimsOf(session, roles ? { organizationId, roles } : null, clock.now())
      },
    })
  })
  // Not before: a token that a key of another secret has signed is not good any more.
  const readKeys = () => ownKeys().then(() => readPublicKeys(pool, clock.now()))
  const ready = async () => (await auth()).checkSigning()
  const authority = createAuthority({ issuer: publicUrl, secret: settings.secret, readKeys, sessions, keys, ready })
  return {
    authority,
    http: createHttp({
      auth,
      authority,
      attempts: createAttempts(pool, clock),
      clientAddressHeader: settings.clientAddressHeader,
      sessionOf: createSessionOfToken(authority, clock, sessionLifetime),
      endSession: sessions.end,
    }),
    sign: async claims => (await auth()).sign(claims),
    load: auth,
    rotate: distrust => endSigningKeys(pool, clock.now(), distrust),
    ready,
    stop: () => keys.settle().then(() => pool.end()),
  }
}

/** Runs an opening once, and again only after it failed. */
function once<Opened>(open: () => Promise<Opened>): () => Promise<Opened> {
  let opened: Promise<Opened> | undefined
  return () => {
    opened ??= open().catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
}
