import type { Jobs } from '../../platform/jobs/jobs.ts'
import { retention } from '../../platform/jobs/retention.ts'
import type { Authority } from '../authority.ts'
import { answering, type Exchanges } from '../http/exchanges.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { inTransaction } from '../store/write.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import { anonymous, type Viewer } from '../viewer.ts'
import { executableSchema } from '../wiring/executable.ts'
import { apiKeyResolvers } from './api-key/resolvers.ts'
import { auditResolvers } from './audit/resolvers.ts'
import { type Context, type Services, stores } from './context.ts'
import { acceptPath } from './credentials/account/invited.ts'
import { accountExchanges } from './credentials/account/open.ts'
import { requestQueue, requestSweep } from './credentials/account/requests.ts'
import { accountResolvers } from './credentials/account/resolvers.ts'
import { shownOf } from './credentials/account/rules.ts'
import { credentialsPath } from './credentials/names.ts'
import { oauthExchanges } from './credentials/oauth/exchanges.ts'
import { oauthResolvers } from './credentials/oauth/resolvers.ts'
import { openCredentials } from './credentials/open.ts'
import { accountPages } from './credentials/pages/account.ts'
import { invitationPages } from './credentials/pages/invitation.ts'
import { createLoginPage } from './credentials/pages/login.ts'
import { loginPath } from './credentials/pages/paths.ts'
import { readerOf } from './credentials/pages/reader.ts'
import type { IdentitySettings } from './credentials/settings.ts'
import { signingKeyResolvers } from './credentials/signing-key/resolvers.ts'
import { createForms } from './http/form.ts'
import { publicExchange } from './http/public.ts'
import { openMails } from './mail/open.ts'
import { invitationResolvers } from './membership/invitation/resolvers.ts'
import { invitationSweep } from './membership/invitation/sweep.ts'
import { membershipResolvers } from './membership/resolvers.ts'
import { organizationResolvers } from './organization/resolvers.ts'
import { registration } from './registration.ts'
import { serviceAnswer, servicesPath } from './service-entry/answer.ts'
import { createProduction } from './service-entry/production.ts'
import { type RegistrationOutcome, registerServices } from './service-entry/register.ts'
import { serviceEntryResolvers } from './service-entry/resolvers.ts'
import type { Addresses } from './service-entry/rules.ts'
import { renewal, signOut } from './session/exchanges.ts'
import { mintExchange, ssoExchange } from './session/handoff/exchange.ts'
import { mintHandoff } from './session/handoff/mint.ts'
import { handoffResolvers } from './session/handoff/resolvers.ts'
import { bearerOf } from './session/handoff/rules.ts'
import { appsExchange, meExchange } from './session/me.ts'
import { sessionResolvers } from './session/resolvers.ts'
import { underIssuer } from './setup/foreign/closed.ts'
import { admit } from './setup/foreign/people.ts'
import { type Provisioned, provision } from './setup/provision.ts'
import { setupPath } from './setup/rules.ts'
import { createSetup } from './setup/setup.ts'
import type { World } from './setup/world.ts'
import { auditRecording } from './stores/audit-entry.ts'
import { agingOf } from './stores/retention.ts'
import { userResolvers } from './user/resolvers.ts'
import { viewerResolvers } from './viewer/resolvers.ts'

const hourMs = 3_600_000

/** Identity: who somebody is, what they belong to, and what their credentials allow. */
export interface Identity extends Subgraph<Context> {
  readonly authority: Authority
  http(request: Request, viewer?: Viewer): Promise<Response>
  /**
   * Synchronises the registry of services, this one included only if it is among them.
   * @param addresses absolute addresses by slug, then by role
   */
  registerServices(registrations: readonly Registration[], addresses: Readonly<Record<string, Addresses>>): Promise<RegistrationOutcome>
  /** Makes people, organizations and keys that are not there yet: for set-up and demo data. */
  provision(world: World): Promise<Provisioned>
  /**
   * Makes a link to the set-up page in place of the former one.
   * @param keep is given path and query before the link counts; when it throws, the former link stays
   * @returns path and query; null once somebody has signed in
   */
  openSetup(keep?: (link: string) => void): Promise<string | null>
  /**
   * Signs from now on with a new key.
   * @param options.distrust tokens of the keys before are refused at once, as after a leak @default false
   */
  rotateSigningKeys(options?: { distrust?: boolean }): Promise<void>
}

export function define(foundation: Foundation, settings: IdentitySettings): Identity {
  const { clock, environment, events, outbound, publicUrl } = foundation
  const { clientAddressHeader, foreignIssuer, quotas, signUp, trustsOrigin } = settings
  const log = foundation.log.child({ subgraph: registration.slug })
  const credentials = openCredentials(foundation, settings, log, async newcomer => {
    if (foreignIssuer) await admit(job(), foreignIssuer.issuer, newcomer)
  })
  const production = createProduction(settings.registry.production, outbound, clock, log)
  const facts: Facts = openFacts(foundation, { slug: 'identity', received: {}, job: () => contexts.everybodys('facts'), log })
  const mail = openMails(foundation, settings.mail, { jobs: () => jobs, log })
  const jobs: Jobs = foundation.openJobs({
    slug: registration.slug,
    calm: true,
    queues: [mail.queue, requestQueue(() => job())],
    sweeps: [
      invitationSweep(() => job(), publicUrl),
      mail.sweep,
      requestSweep(() => job(), clock),
      ...facts.sweeps,
      retention(foundation, [...agingOf(settings.retention), ...facts.aging]),
    ],
    log,
  })
  const services: Services = {
    clock,
    events,
    environment,
    production,
    sign: credentials.sign,
    sessionCookies: credentials.sessionCookies,
    newSigningKey: credentials.newSigningKey,
    quotas,
    countAddition: async userId =>
      (await credentials.limits.take({ kind: 'addition', most: quotas.additionsAnHour, windowMs: hourMs }, userId, clock.now())).waitMs,
    jobs,
    mails: mail.mails,
  }
  const contexts = contextsOf(registration.slug, stores, services, foundation, facts, 'caller', auditRecording)
  /** What the platform does by itself, made anew for each piece of work. */
  const job = () => contexts.everybodys('platform')
  const setup = createSetup(job, clock, foreignIssuer?.issuer ?? null)
  const forms = createForms({ publicUrl, clientAddressHeader })
  const accounts = accountExchanges({
    publicUrl,
    trustsOrigin,
    clock,
    contexts,
    attempts: credentials.attempts,
    limits: credentials.limits,
    signUp,
    clientAddressHeader,
    jobs,
  })
  const { authority } = credentials
  const open = contexts.forRequest
  const sessionRows = { ...credentials, open }
  const pages = { publicUrl, trustsOrigin }
  const leave = publicExchange(pages, signOut(sessionRows))
  const login = createLoginPage({
    publicUrl,
    forms,
    signUp,
    signIn: credentials.exchanges[`POST ${credentialsPath}/sign-in/email`]!,
    signOut: leave,
    async here(headers) {
      const viewer = readerOf(await authority.cookie(headers))
      const account = viewer && (await job().accounts.byId(viewer.userId!))
      return account ? { viewer, email: account.email } : null
    },
    handoffs: {
      callbackOf: async slug =>
        (await job().serviceEntries.manyBy('environment').load(environment)).find(each => each.slug === slug)?.addresses.callback ?? null,
      make: (viewer, request, wanted) => mintHandoff(open(viewer, request), bearerOf(viewer), wanted),
    },
  })
  const under = underIssuer(foreignIssuer)
  const served = (exchanges: Exchanges) => answering(under.exchanges(exchanges))
  const schemaOf = (nouns: Parameters<typeof executableSchema>[1]) => executableSchema('identity', under.nouns(nouns))
  const answer = served({
    ...credentials.exchanges,
    ...accounts,
    ...accountPages({ clock, contexts, signUp }, forms, accounts),
    ...invitationPages({ ground: { contexts, clock }, forms, authority, accept: accounts[`POST ${acceptPath}`]! }),
    [`GET ${credentialsPath}/token`]: renewal(sessionRows),
    [`GET ${credentialsPath}/me`]: meExchange(open, async ({ recoveryEmails }, userId) => shownOf(await recoveryEmails.ofPerson(userId))),
    [`GET ${credentialsPath}/apps`]: appsExchange(open),
    [`POST ${credentialsPath}/sign-out`]: leave,
    ...oauthExchanges({ publicUrl, clock, clientAddressHeader, authority, forms, trustsOrigin, open, job }),
    [`GET ${setupPath}`]: setup.handle,
    [`POST ${setupPath}`]: setup.handle,
    [`GET ${loginPath}`]: login,
    [`POST ${loginPath}`]: login,
    [`POST ${credentialsPath}/handoff`]: mintExchange(open),
    [`POST ${credentialsPath}/sso/exchange`]: publicExchange(pages, ssoExchange({ contextOf: open, authority })),
    [`GET ${servicesPath}/*`]: serviceAnswer(async () => job().serviceEntries.manyBy('environment').load(environment), production, clock),
  })
  let ending: Promise<void> | undefined

  return {
    registration,
    authority,
    schema: schemaOf({
      user: userResolvers,
      'credentials/account': accountResolvers,
      organization: organizationResolvers,
      membership: membershipResolvers,
      'membership/invitation': invitationResolvers,
      'api-key': apiKeyResolvers,
      'service-entry': serviceEntryResolvers,
      'credentials/signing-key': signingKeyResolvers,
      viewer: viewerResolvers,
      session: sessionResolvers,
      'session/handoff': handoffResolvers,
      audit: auditResolvers,
      'credentials/oauth': oauthResolvers,
    }),
    open: contexts.open,
    http: (request, viewer = anonymous) => answer(request, viewer),
    registerServices: (registrations, addresses) => registerServices(job(), registrations, addresses, { environment, publicUrl, events, log }),
    provision: world => provision(job(), world),
    openSetup: setup.open,
    async rotateSigningKeys({ distrust = false } = {}) {
      const key = await credentials.newSigningKey(clock.now())
      const context = job()
      await inTransaction(context, unit => context.signingKeys.turn(key, distrust, unit))
    },
    async start() {
      // Warms up beside the rest of the start, so that the first sign-in need not wait for it.
      credentials.load().catch(error => log.error({ err: error }, 'credential library did not load'))
      await jobs.start()
    },
    async ready() {
      await Promise.all([credentials.ready(), jobs.check()])
      return facts.lying()
    },
    stop() {
      ending ??= Promise.all([jobs.stop().then(mail.close), facts.stop()]).then(credentials.stop)
      return ending
    },
  }
}
