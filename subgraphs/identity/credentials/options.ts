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

/** What it refused, and told whoever asked: it repeats what they sent, as often and as long as they like. */
const refusal = /^(Invalid \w+: |Blocked cross-site )/

/** What the credential library is not trusted to know: time, organizations, roles. */
export interface CredentialPorts {
  readonly clock: Clock
  readonly log: Logger
  readonly admission: Pick<Admission, 'verify' | 'admits'>
  /** The organization a new session begins in, or null. */
  organizationAtSignIn(userId: string): Promise<string | null>
  /** Notes it, and drops what is left of the person's expired sessions, and the oldest of too many. */
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
    plugins: [signInByAddress],
    emailAndPassword: { enabled: true, disableSignUp: true, password: { verify: given => ports.admission.verify(given) } },
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
          // Its times follow our clock, as those of every other session.
          async before(session, endpoint) {
            // The password was right: whoever may not sign in is answered like somebody whose password was wrong, after the same work.
            if (!(await ports.admission.admits(session.userId, session.token))) throw new APIError('UNAUTHORIZED')
            const now = ports.clock.now()
            const times = { createdAt: now, updatedAt: now, expiresAt: new Date(now.getTime() + sessionLifetime * 1000) }
            // The library would keep of an IPv6 address the network alone, and spell it unlike the record does.
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
