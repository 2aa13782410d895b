import type { BetterAuthOptions } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'
import { getJwtToken, type JwtOptions, jwt } from 'better-auth/plugins/jwt'
import { decodeJwt } from 'jose'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'
import type { Claims } from '../context.ts'
import { accessTokenAudience, expiryOf, sessionLifetime } from '../session/rules.ts'
import { cookiePrefix, credentialsPath } from './names.ts'
import type { IdentitySettings } from './settings.ts'
import { keyGracePeriod, keyLifetime, keyPair } from './signing-keys.ts'
import { accountsTable, sessionsTable, signingKeysTable, usersTable, verificationsTable } from './tables.ts'

/** What it refused, and told whoever asked: it repeats what they sent, as often and as long as they like. */
const refusal = /^(Invalid \w+: |Blocked cross-site )/

/** What the credential library is not trusted to know: time, organizations, roles. */
export interface CredentialPorts {
  readonly clock: Clock
  readonly log: Logger
  /** The organization a new session begins in, or null. */
  organizationAtSignIn(userId: string): Promise<string | null>
  /** What a token of this session says now. */
  claims(session: { sessionId: string; userId: string; organizationId: string | null }): Promise<Claims>
}

/**
 * The settings of better-auth, which owns accounts, passwords, sessions and signing keys and nothing else: no sign-up
 * (people are invited), no rate limiter (ours is in `attempts.ts`), no cookie cache (a revoked session ends at once).
 */
export function credentialOptions(pool: pg.Pool, publicUrl: string, settings: IdentitySettings, ports: CredentialPorts) {
  const jwtOptions = tokenOptions(publicUrl, ports)
  return {
    appName: 'Supergraph',
    baseURL: publicUrl,
    basePath: credentialsPath,
    secret: settings.secret,
    // Asked at each request, for not every origin that the platform trusts can be listed.
    trustedOrigins: async request => {
      const origin = request?.headers.get('origin')
      return origin && settings.trustsOrigin(origin) ? [publicUrl, origin] : [publicUrl]
    },
    database: pool,
    user: usersTable,
    account: accountsTable,
    verification: verificationsTable,
    session: {
      ...sessionsTable,
      expiresIn: sessionLifetime,
      updateAge: 24 * 3600,
      additionalFields: { activeOrganizationId: { type: 'string', required: false, input: false, fieldName: 'active_organization_id' } },
    },
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12 },
    advanced: {
      cookiePrefix,
      useSecureCookies: publicUrl.startsWith('https:'),
      // Said out loud, because the library turns it off by itself when it believes to be under test.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      database: { generateId: () => newId(ports.clock.now()) },
      ipAddress: { ipAddressHeaders: [settings.clientAddressHeader] },
    },
    rateLimit: { enabled: false },
    // What it refuses it answers; what breaks reaches whoever called us, instead of the console.
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    // Its arguments may hold addresses and tokens: only the sentence and a thrown error go to our log.
    logger: {
      level: 'error',
      log: (_level, message, ...rest) =>
        ports.log[refusal.test(message) ? 'debug' : 'error']({ err: rest.find(part => part instanceof Error) }, `credentials: ${message}`),
    },
    databaseHooks: {
      session: {
        create: {
          before: async session => ({ data: { ...session, activeOrganizationId: await ports.organizationAtSignIn(session.userId) } }),
        },
      },
    },
    plugins: [jwt(jwtOptions)],
    hooks: {
      after: createAuthMiddleware(async ctx => {
        const { newSession, returned } = ctx.context
        if (ctx.path === '/sign-in/email' && newSession) {
          ctx.context.session = newSession
          const { user } = newSession
          return ctx.json({ ...described(await getJwtToken(ctx, jwtOptions)), user: { id: user.id, email: user.email, name: user.name } })
        }
        if (ctx.path === '/token' && isToken(returned)) return ctx.json(described(returned.token))
      }),
    },
  } satisfies BetterAuthOptions
}

/** EdDSA over Ed25519 (RFC 8037), rotated by age; private keys lie encrypted in the database. */
function tokenOptions(publicUrl: string, ports: CredentialPorts): JwtOptions {
  return {
    disableSettingJwtHeader: true,
    jwks: { keyPairConfig: keyPair, rotationInterval: keyLifetime, gracePeriod: keyGracePeriod },
    jwt: {
      issuer: publicUrl,
      audience: accessTokenAudience,
      definePayload: async ({ session }) => ({
        ...(await ports.claims({ sessionId: session.id, userId: session.userId, organizationId: session.activeOrganizationId ?? null })),
      }),
    },
    schema: { jwks: signingKeysTable },
  }
}

const isToken = (value: unknown): value is { token: string } => typeof (value as { token?: unknown } | null | undefined)?.token === 'string'

const described = (accessToken: string) => ({ accessToken, expiresAt: expiryOf({ exp: decodeJwt(accessToken).exp! }).toISOString() })
