import { retention } from '../../platform/jobs/retention.ts'
import { createLimit } from '../../platform/limit.ts'
import type { Authority } from '../authority.ts'
import { executableSchema } from '../executable.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import { apiKeyResolvers } from './api-key/resolvers.ts'
import { createKeyVerifier } from './api-key/verify.ts'
import { agingOf } from './audit/retention.ts'
import { createAttempts } from './credentials/attempts.ts'
import type { Auth } from './credentials/auth.ts'
import { createAuthority } from './credentials/authority.ts'
import { createLoginPage, loginPath } from './credentials/login-page.ts'
import type { IdentitySettings } from './credentials/settings.ts'
import { endSigningKeys, readPublicKeys, replaceForeignKeys } from './credentials/signing-keys.ts'
import { createHttp } from './http.ts'
import { membershipResolvers } from './membership/resolvers.ts'
import { type Context, openContext } from './nouns.ts'
import { organizationResolvers } from './organization/resolvers.ts'
import { registration } from './registration.ts'
import { type RegistrationOutcome, registerServices } from './service-entry/register.ts'
import { serviceEntryResolvers } from './service-entry/resolvers.ts'
import type { Addresses } from './service-entry/rules.ts'
import { sessionResolvers } from './session/resolvers.ts'
import { claimsOf } from './session/rules.ts'
import { createSessionReader } from './session/store.ts'
import { type Provisioned, provision, type World } from './setup/provision.ts'
import { setupPath } from './setup/rules.ts'
import { createSetup } from './setup/setup.ts'
import { defineTables } from './tables.ts'
import { userResolvers } from './user/resolvers.ts'
import { viewerResolvers } from './viewer/resolvers.ts'

const hourMs = 3_600_000

/** Identity: who somebody is, what they belong to, and what their credentials allow. */
export interface Identity extends Subgraph<Context> {
  readonly authority: Authority
  http(request: Request): Promise<Response>
  /**
   * Synchronises the registry of services, this one included only if it is among them.
   * @param addresses absolute addresses by slug, then by role
   */
  registerServices(registrations: readonly Registration[], addresses: Readonly<Record<string, Addresses>>): Promise<RegistrationOutcome>
  /** Makes people, organizations and keys that are not there yet: for set-up and demo data. */
  provision(world: World): Promise<Provisioned>
  /** Path and query of a link to the set-up page, in place of the former one; null once somebody has signed in. */
  openSetup(): Promise<string | null>
  /**
   * Signs from now on with a new key.
   * @param options.distrust tokens of the keys before are refused at once, as after a leak @default false
   */
  rotateSigningKeys(options?: { distrust?: boolean }): Promise<void>
}

export function define(foundation: Foundation, settings: IdentitySettings): Identity {
  const { clock, environment, publicUrl, sequelize } = foundation
  const log = foundation.log.child({ subgraph: 'identity' })
  const pool = foundation.openPool({ use: 'credentials', name: 'identity', schema: 'identity' })
  const tables = defineTables(sequelize)
  const sessions = createSessionReader(pool, clock)
  const keys = createKeyVerifier(pool, clock, log)
  const ownKeys = once(async () => {
    if (await replaceForeignKeys(pool, settings.secret, clock.now()))
      log.warn('the signing keys were made with another AUTH_SECRET: there is a new one, and every session has ended')
  })
  const auth = once(async () => {
    const [{ openAuth }] = await Promise.all([import('./credentials/auth.ts'), ownKeys()])
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
  const { quotas } = settings
  const ground = {
    tables,
    clock,
    environment,
    sign: async (claims: Parameters<Auth['sign']>[0]) => (await auth()).sign(claims),
    quotas,
    additions: createLimit({ most: quotas.additionsAnHour, windowMs: hourMs }),
  }
  const setup = createSetup(tables, clock)
  const credentials = createHttp({ auth, authority, attempts: createAttempts(pool, clock), clientAddressHeader: settings.clientAddressHeader })
  const pages: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    [setupPath]: setup.handle,
    [loginPath]: createLoginPage({ publicUrl, clientAddressHeader: settings.clientAddressHeader, credentials }),
  }
  const jobs = foundation.openJobs({ slug: registration.slug, queues: [], sweeps: [retention(foundation, agingOf(settings.retention))], log })
  let ending: Promise<void> | undefined

  return {
    registration,
    authority,
    schema: executableSchema('identity', {
      user: userResolvers,
      organization: organizationResolvers,
      membership: membershipResolvers,
      'api-key': apiKeyResolvers,
      'service-entry': serviceEntryResolvers,
      viewer: viewerResolvers,
      session: sessionResolvers,
    }),
    open: (viewer, operation) => openContext(ground, viewer, operation),
    http: request => (pages[new URL(request.url).pathname] ?? credentials)(request),
    registerServices: (registrations, addresses) => registerServices(tables, registrations, addresses, { environment, now: clock.now(), log }),
    provision: world => provision(tables, world, clock.now()),
    openSetup: setup.open,
    rotateSigningKeys: ({ distrust = false } = {}) => endSigningKeys(pool, clock.now(), distrust),
    async start() {
      // Warms up beside the rest of the start, so that the first sign-in need not wait for it.
      auth().catch(error => log.error({ err: error }, 'the credential library did not load'))
      await jobs.start()
    },
    ready: async () => void (await Promise.all([ready(), jobs.check()])),
    stop() {
      ending ??= Promise.all([jobs.stop(), keys.settle()]).then(() => pool.end())
      return ending
    },
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
