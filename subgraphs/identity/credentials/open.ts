import type { Logger } from 'pino'
import type { Authority } from '../../authority.ts'
import type { Handlers } from '../../http/handlers.ts'
import type { Foundation } from '../../subgraph.ts'
import { createKeyLender } from '../api-key/ledgers.ts'
import { createKeyVerifier } from '../api-key/verify.ts'
import type { Services } from '../context.ts'
import { createSessionOfToken, type OwnSession } from '../session/ending.ts'
import { accessTokenAudience, claimsOf, expiryOf, sessionLifetime } from '../session/rules.ts'
import { createCredentialRecord } from '../stores/audit-entry.ts'
import { type Limits, openLimits } from '../stores/credentials/limits.ts'
import { createSessionReader } from '../stores/session.ts'
import { createForeignReader, createStandingReader } from '../stores/standing.ts'
import { createAdmission } from './account/admission.ts'
import { createAuthority } from './authority.ts'
import { readSessionTokens, sessionCookie } from './cookie.ts'
import { createAttempts } from './guessing/attempts.ts'
import { credentialHandlers } from './http.ts'
import type { IdentitySettings } from './settings.ts'
import { createSigner, newSigningKey, readPublicKeys, settleSecret } from './signing-key/keys.ts'

/** Limit on calls without credentials from one client address. */
const publicPosts = { kind: 'public', most: 1_000, windowMs: 15 * 60_000 }

/** Verifies, creates and ends the credentials of one platform. */
export interface Credentials {
  readonly authority: Authority
  /** Protects password checks against guessing. */
  readonly attempts: ReturnType<typeof createAttempts>
  /** Counters shared by all processes. */
  readonly limits: Limits
  /** Handlers of sign-in and public keys. */
  readonly handlers: Handlers
  readonly sign: Services['sign']
  /** Returns the `Set-Cookie` lines of a session with its end. */
  sessionCookies(token: string, expiresAt: Date, now: Date): readonly string[]
  /** Returns every valid session token in a request's cookies. */
  sessionTokens(headers: Headers): readonly string[]
  /** Returns the session of an access token, even an expired one. @throws UNAUTHENTICATED for an invalid one */
  sessionOf(authorization: string): Promise<OwnSession>
  readonly newSigningKey: Services['newSigningKey']
  /** Loads the credential library. */
  load(): Promise<unknown>
  /** Rejects while no access token can be signed. */
  ready(): Promise<void>
  stop(): Promise<void>
}

/**
 * Opens the credentials on a separate pool, so that lookups for every request wait for nothing else.
 * @param admit creates the person of another issuer's subject
 */
export function openCredentials(foundation: Foundation, settings: IdentitySettings, log: Logger, admit: Authority['admit']): Credentials {
  const { clock, cipher, publicUrl } = foundation
  const { secret } = settings
  const pool = foundation.openPool({ use: 'credentials', name: 'identity', schema: 'identity' })
  const sessions = createSessionReader(pool, clock, log)
  const record = createCredentialRecord(pool, clock, log)
  const keys = createKeyVerifier(pool, clock, log)
  const limits = openLimits(pool, secret)
  const attempts = createAttempts(pool, limits, clock, record.refused)
  const admission = createAdmission(pool, clock)
  const settled = once(async () => {
    if (await settleSecret({ pool, clock, cipher, secret })) log.warn('AUTH_SECRET has changed: all sessions were ended and a new signing key was created')
  })
  const signer = createSigner({ pool, clock, cipher, issuer: publicUrl, secret, log })
  const sign: Services['sign'] = async (claims, audience = accessTokenAudience) => {
    await settled()
    return signer.sign(claims, audience)
  }
  const auth = once(async () => {
    const [{ openAuth }] = await Promise.all([import('./auth.ts'), settled()])
    return openAuth(pool, publicUrl, settings, {
      clock,
      log,
      admission,
      organizationAtSignIn: sessions.organizationAtSignIn,
      async sessionBegan(session) {
        await sessions.began(session.userId)
        await record.began(session)
      },
      async token({ organizationId, ...session }) {
        const roles = organizationId && (await sessions.rolesIn(organizationId, session.userId))
        const claims = claimsOf({ ...session, ...(roles ? { organizationId, roles } : { organizationId: null, roles: [] }) }, clock.now())
        return { accessToken: await sign(claims), expiresAt: expiryOf(claims).toISOString() }
      },
    })
  })
  // Only now, because tokens signed with a key of another secret are no longer valid.
  const readKeys = () => settled().then(() => readPublicKeys(pool, clock.now()))
  const ready = () => settled().then(signer.ready)
  const signed = { secret, secure: publicUrl.startsWith('https:') }
  const standings = createStandingReader(pool)
  const foreigners = settings.foreignIssuer ? createForeignReader(pool, settings.foreignIssuer.issuer) : async () => new Map()
  const authority = createAuthority({
    issuer: publicUrl,
    ...signed,
    readKeys,
    sessions,
    keys,
    lendKeys: createKeyLender(pool, clock),
    countPublicPosts: (neighbourhood, many) => limits.take(publicPosts, neighbourhood, clock.now(), many),
    standings,
    foreigners,
    admit,
    ready,
  })
  return {
    authority,
    attempts,
    limits,
    handlers: credentialHandlers({ auth, authority, attempts, admission, clientAddressHeader: settings.clientAddressHeader }),
    sign,
    sessionCookies: (token, expiresAt, now) => [sessionCookie(token, Math.floor((expiresAt.getTime() - now.getTime()) / 1000), signed)],
    sessionTokens: headers => readSessionTokens(headers, signed),
    sessionOf: createSessionOfToken(authority, clock, sessionLifetime),
    newSigningKey: now => newSigningKey(cipher, now),
    load: auth,
    ready,
    stop: () => Promise.all([keys.settle(), sessions.settle(), record.settle()]).then(() => pool.end()),
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
