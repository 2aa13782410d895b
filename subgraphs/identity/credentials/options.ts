import type { BetterAuthOptions } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'
import { sessionLifetime } from '../session/rules.ts'
import type { NotedSession } from '../stores/audit-entry.ts'
import type { Admission } from './account/admission.ts'
import { byAddressPath, signInByAddress } from './by-address.ts'
import { cookiePrefix, credentialsPath } from './names.ts'
import type { IdentitySettings } from './settings.ts'
import { accountsTable, sessionsTable, usersTable, verificationsTable } from './tables.ts'

/** Matches the library's log lines about rejected input, which callers choose. */
const refusal = /^(Invalid \w+: |Blocked cross-site )/

/** Functions that replace the credential library's own: time, organizations, roles. */
export interface CredentialPorts {
  readonly clock: Clock
  readonly log: Logger
  readonly admission: Pick<Admission, 'verify' | 'admits'>
  /** The organization a new session begins in, or null. */
  organizationAtSignIn(userId: string): Promise<string | null>
  /** Records the session, and removes the person's expired sessions, and the oldest above the maximum. */
  sessionBegan(session: NotedSession): Promise<void>
  /** An access token of this session. */
  token(session: { sessionId: string; userId: string; organizationId: string | null }): Promise<{ accessToken: string; expiresAt: string }>
}

/**
 * The settings of better-auth, which owns accounts, passwords and how a sign-in begins a session, and nothing else: no tokens, no sign-up (ours
 * is in `account/`), no rate limiter (ours is in `attempts.ts`), no cookie cache (a revoked session
 */
export function credentialOptions(pool: pg.Pool, publicUrl: string, settings: IdentitySettings, ports: CredentialPorts) {
  return {
    appName: 'Supergraph',
    baseURL: publicUrl,
    basePath: credentialsPath,
    secret: settings.secret,
    // Evaluated for each request, because trusted origins cannot all be listed.
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
    plugins: [signInByAddress],
    emailAndPassword: { enabled: true, disableSignUp: true, password: { verify: given => ports.admission.verify(given) } },
    advanced: {
      cookiePrefix,
      useSecureCookies: publicUrl.startsWith('https:'),
      // Set explicitly, because the library turns it off when it believes it runs under test.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      // Our migrations own the tables, and a test compares them: the library's own comparison runs out of time in a database that has just started.
      database: { generateId: () => newId(ports.clock.now()), validateSchema: false },
      ipAddress: { ipAddressHeaders: [settings.clientAddressHeader] },
    },
    rateLimit: { enabled: false },
    // The library answers refusals itself; errors are thrown to our caller instead of the console.
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    // Log arguments may contain addresses and tokens: only the message and a thrown error are logged.
    logger: {
      level: 'error',
      log: (_level, message, ...rest) =>
        ports.log[refusal.test(message) ? 'debug' : 'error']({ err: rest.find(part => part instanceof Error) }, `credentials: ${message}`),
    },
    databaseHooks: {
      session: {
        create: {
          // Uses our clock, as all other sessions do.
          async before(session, endpoint) {
            // The password was right, but the person may not sign in: the answer and the work are those of a wrong password.
            if (!(await ports.admission.admits(session.userId, session.token))) throw new APIError('UNAUTHORIZED')
            const now = ports.clock.now()
            const times = { createdAt: now, updatedAt: now, expiresAt: new Date(now.getTime() + sessionLifetime * 1000) }
            // The library would reduce an IPv6 address to its network, and spell it differently from the audit log.
            const ipAddress = endpoint?.headers?.get(settings.clientAddressHeader) ?? null
            return { data: { ...session, ...times, ipAddress, activeOrganizationId: await ports.organizationAtSignIn(session.userId) } }
          },
          after: ({ id, userId, activeOrganizationId }) =>
            ports.sessionBegan({ id, userId, organizationId: typeof activeOrganizationId === 'string' ? activeOrganizationId : null }),
        },
      },
    },
    hooks: {
      after: createAuthMiddleware(async ctx => {
        const { newSession } = ctx.context
        if (!(ctx.path === '/sign-in/email' || ctx.path === byAddressPath) || !newSession) return undefined
        const { session, user } = newSession
        const { activeOrganizationId = null } = session as { activeOrganizationId?: string | null }
        const token = await ports.token({ sessionId: session.id, userId: user.id, organizationId: activeOrganizationId })
        return ctx.json({ ...token, user: { id: user.id, email: user.email, name: user.name } })
      }),
    },
  } satisfies BetterAuthOptions
}
