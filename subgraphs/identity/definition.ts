import { retention } from '../../platform/jobs/retention.ts'
import { createLimit } from '../../platform/limit.ts'
import type { Authority } from '../authority.ts'
import { executableSchema } from '../executable.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import { apiKeyResolvers } from './api-key/resolvers.ts'
import { type Context, type Services, stores } from './context.ts'
import { createLoginPage, loginPath } from './credentials/login-page.ts'
import { openCredentials } from './credentials/open.ts'
import type { IdentitySettings } from './credentials/settings.ts'
import { membershipResolvers } from './membership/resolvers.ts'
import { organizationResolvers } from './organization/resolvers.ts'
import { registration } from './registration.ts'
import { agingOf } from './retention.ts'
import { type RegistrationOutcome, registerServices } from './service-entry/register.ts'
import { serviceEntryResolvers } from './service-entry/resolvers.ts'
import type { Addresses } from './service-entry/rules.ts'
import { sessionResolvers } from './session/resolvers.ts'
import { type Provisioned, provision } from './setup/provision.ts'
import { setupPath } from './setup/rules.ts'
import { createSetup } from './setup/setup.ts'
import type { World } from './setup/world.ts'
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
  const { clock, environment, publicUrl } = foundation
  const { clientAddressHeader, quotas } = settings
  const log = foundation.log.child({ subgraph: registration.slug })
  const credentials = openCredentials(foundation, settings, log)
  const services: Services = {
    clock,
    environment,
    sign: credentials.sign,
    quotas,
    additions: createLimit({ most: quotas.additionsAnHour, windowMs: hourMs }),
  }
  const facts: Facts = openFacts(foundation, { slug: 'identity', received: {}, job: () => contexts.everybodys('facts'), log })
  const contexts = contextsOf(registration.slug, stores, services, foundation, facts, 'caller')
  /** What the platform does by itself, made anew for each piece of work. */
  const job = () => contexts.everybodys('platform')
  const setup = createSetup(job, clock)
  const pages: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    [setupPath]: setup.handle,
    [loginPath]: createLoginPage({ publicUrl, clientAddressHeader, credentials: credentials.http }),
  }
  const jobs = foundation.openJobs({
    slug: registration.slug,
    queues: [],
    sweeps: [...facts.sweeps, retention(foundation, [...agingOf(settings.retention), ...facts.aging])],
    log,
  })
  let ending: Promise<void> | undefined

  return {
    registration,
    authority: credentials.authority,
    schema: executableSchema('identity', {
      user: userResolvers,
      organization: organizationResolvers,
      membership: membershipResolvers,
      'api-key': apiKeyResolvers,
      'service-entry': serviceEntryResolvers,
      viewer: viewerResolvers,
      session: sessionResolvers,
    }),
    open: contexts.open,
    http: request => (pages[new URL(request.url).pathname] ?? credentials.http)(request),
    registerServices: (registrations, addresses) => registerServices(job(), registrations, addresses, { environment, log }),
    provision: world => provision(job(), world),
    openSetup: setup.open,
    rotateSigningKeys: ({ distrust = false } = {}) => credentials.rotate(distrust),
    async start() {
      // Warms up beside the rest of the start, so that the first sign-in need not wait for it.
      credentials.load().catch(error => log.error({ err: error }, 'the credential library did not load'))
      await jobs.start()
    },
    async ready() {
      await Promise.all([credentials.ready(), jobs.check()])
      return facts.lying()
    },
    stop() {
      ending ??= Promise.all([jobs.stop(), facts.stop()]).then(credentials.stop)
      return ending
    },
  }
}
