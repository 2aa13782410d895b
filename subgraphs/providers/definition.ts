import { NotReady } from '../../platform/errors.ts'
import { retention } from '../../platform/jobs/retention.ts'
import type { ServiceClients } from '../authority.ts'
import { answering } from '../http/exchanges.ts'
import { agingOfKeys, agingOfRecord } from '../store/books.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { createKeyCheck } from '../store/key-check.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { executableSchema } from '../wiring/executable.ts'
import { auditResolvers } from './administration/audit/resolvers.ts'
import { provision } from './administration/organization/provision.ts'
import { organizationResolvers } from './administration/organization/resolvers.ts'
import { serviceClientResolvers } from './administration/service-client/resolvers.ts'
import type { AiTimes } from './ai/attempt/upstream.ts'
import { aiExchanges } from './ai/exchanges.ts'
import { aiNouns } from './ai/nouns.ts'
import { openAi } from './ai/open.ts'
import { SpendersRightsDocument } from './ask.generated.ts'
import { callResolvers } from './call/resolvers.ts'
import { usageResolvers } from './call/usage/resolvers.ts'
import { widgetResolvers } from './call/widget/resolvers.ts'
import { type Context, type Job, type Quotas, type Services, stores } from './context.ts'
import { credentialExchanges } from './credential/exchange.ts'
import { noteUse } from './credential/note.ts'
import { credentialResolvers } from './credential/resolvers.ts'
import type { CredentialServers } from './credential/servers.ts'
import { domainResolvers } from './email/domain/resolvers.ts'
import { identityResolvers } from './email/identity/resolvers.ts'
import { messageResolvers } from './email/message/resolvers.ts'
import { type EmailSettings, openEmail } from './email/open.ts'
import { suppressionResolvers } from './email/suppression/resolvers.ts'
import { openModels } from './engines/models/in-use.ts'
import { lookAgainAtLimits } from './engines/spend/announce.ts'
import { openSpending, type PriceSettings } from './engines/spend/open.ts'
import { openOrganizationsInUse } from './engines/spend/organizations.ts'
import { governed } from './engines/spend/prompts.ts'
import type { Addresses } from './engines/third-party/addresses.ts'
import { openCredentialsInUse } from './engines/third-party/credentials.ts'
import { quotaTables } from './engines/video/table.ts'
import { modelResolvers } from './model/resolvers.ts'
import { createModelSyncs } from './model/sync/run.ts'
import { processorNouns } from './processor/resolvers.ts'
import { openClient } from './processor/stripe/client.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { spendResolvers } from './spend/resolvers.ts'
import { createClientDirectory } from './stores/administration/clients.ts'
import { agingOfCallRates } from './stores/ai/call-rates.ts'
import { createPlatformOrganization } from './stores/credential/platform.ts'
import { rests } from './stores/model/rests.ts'
import { readStanding } from './stores/model/standing.ts'
import { videoQuotaAging } from './stores/video/quota.ts'
import { videoExchanges, videoPaths } from './video/exchange.ts'
import { videoResolvers } from './video/resolvers.ts'

/** What providers is told by configuration. */
export interface ProvidersSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
  /** What is paid where no model has a price, in micro-dollars. */
  readonly prices: PriceSettings
  /** How long models may take. */
  readonly aiTimes: AiTimes
  readonly email: EmailSettings
  /** Whether sources of models are asked without anybody asking for it. */
  readonly synchronisesModels: boolean
  /** Where third parties are. */
  readonly thirdParties: Addresses
  readonly credentialServers: CredentialServers
}

/** Providers: what third parties are called with, for the whole platform. */
export function define(
  foundation: Foundation,
  { quotas, retention: { auditDays }, prices, aiTimes, email: emailSettings, thirdParties, synchronisesModels, credentialServers }: ProvidersSettings,
): Subgraph<Context> & ServiceClients & { job(actor: string): Job } {
  const { ask, cipher, clock, events, isAlone, openJobs, outbound, callersWay, publicUrl, sequelize } = foundation
  const { slug } = registration
  const log = foundation.log.child({ subgraph: slug })
  const facts: Facts = openFacts(foundation, { slug: 'providers', received, job: () => contexts.everybodys('facts'), log })
  const credentialsInUse = openCredentialsInUse({
    credentials: () => contexts.everybodys('use').credentials,
    write: noted => noteUse(contexts.everybodys('use'), noted),
    clock,
    log,
    isAlone,
  })
  const graces = {
    name: 'secrets whose grace is over',
    everyMs: 60_000,
    run: async () => void (await contexts.everybodys('grace').credentials.forgetPrevious(clock.now())),
  }
  const platformOrganization = createPlatformOrganization(sequelize)
  const { platformCredentialsMicros: platformMicros } = quotas
  const spending = openSpending(foundation, { prices, job: () => contexts.everybodys('spend'), log, platformMicros, platformOrganization })
  lookAgainAtLimits(events, id => contexts.everybodys('spend').spendLimits.byId.load(id))
  const email = openEmail(foundation, emailSettings, { job: () => contexts.everybodys('email'), jobs: () => jobs, log })
  const jobs = openJobs({
    slug,
    calm: true,
    queues: [email.queue],
    sweeps: [
      ...facts.sweeps,
      graces,
      { name: 'rests that are over', everyMs: 60_000, run: () => rests.forget(sequelize, clock.now()) },
      ...spending.sweeps,
      ...(synchronisesModels ? [{ name: 'sources of models', everyMs: 60_000, asksOthers: true, run: () => modelRuns.runWhenDue() }] : []),
      ...email.sweeps,
      retention(foundation, [
        agingOfRecord(slug, auditDays),
        agingOfKeys(slug, 7, 'mail'),
        ...spending.aging,
        ...videoQuotaAging,
        agingOfCallRates,
        ...email.aging,
        ...facts.aging,
      ]),
    ],
    log,
  })
  const clients = createClientDirectory({ sequelize, clock, log })
  const organizationsInUse = openOrganizationsInUse(organizationId => provision(contexts.everybodys('calls'), organizationId))
  const models = openModels({
    models: () => contexts.everybodys('models').aiModels,
    preferences: () => contexts.everybodys('models').modelPreferences,
    credentials: credentialsInUse,
    clock,
    readStanding: isAlone
      ? null
      : async (organizationId, names) => {
          const standing = await readStanding(sequelize, organizationId, names, clock.now())
          if (standing.rules) organizationsInUse.learn(organizationId, standing.rules)
          return standing
        },
  })
  const calls = governed(spending.calls, organizationsInUse, clock, sequelize)
  const {
    ai,
    exchanges,
    stop: stopCounting,
  } = openAi(foundation, {
    models,
    calls,
    credentials: credentialsInUse,
    clients,
    platformOrganization,
    addresses: thirdParties,
    times: aiTimes,
    log,
  })
  const modelRuns = createModelSyncs({
    job: () => contexts.everybodys('models'),
    outbound,
    addresses: thirdParties,
    credentials: credentialsInUse,
    clock,
    log,
  })
  const services: Services = {
    clock,
    events,
    publicUrl,
    quotas,
    thirdParties,
    ...credentialServers,
    outbound,
    callersWay,
    credentialsInUse,
    platformOrganization,
    quotaTable: quotas.youtubeQuota ?? quotaTables[2026],
    models,
    modelRuns,
    clients,
    organizationsInUse,
    calls,
    spending,
    isMember: async (who, viewer) => Boolean((await ask(SpendersRightsDocument, who, { appId: registration.appId, viewer })).memberRights),
    processor: openClient(outbound, thirdParties.stripe),
    ai,
    mailing: email.mailing,
  }
  const contexts = contextsOf(slug, stores(cipher), services, foundation, facts)
  const keys = createKeyCheck(sequelize, {
    table: 'providers.credentials',
    columns: [
      { column: 'secret', open: (id, secret) => contexts.everybodys('keys').credentials.open({ id, secret }) },
      { column: 'previous_secret', open: (id, sealed) => contexts.everybodys('keys').credentials.openPrevious(id, sealed) },
    ],
    consequence: 'credentials of providers cannot be used: their secrets were',
    log,
  })
  const domainKeys = createKeyCheck(sequelize, {
    table: 'providers.sender_domains',
    columns: [{ column: 'private_key', open: (id, privateKey) => contexts.everybodys('keys').senderDomains.openKey({ id, privateKey }) }],
    consequence: 'no mail leaves from domains whose signing keys were',
    log,
  })
  return {
    registration,
    job: contexts.everybodys,
    schema: executableSchema(slug, {
      credential: credentialResolvers,
      audit: auditResolvers,
      call: callResolvers,
      organization: organizationResolvers,
      model: modelResolvers,
      serviceClient: serviceClientResolvers,
      spend: spendResolvers,
      ...aiNouns,
      usage: usageResolvers,
      ...processorNouns,
      video: videoResolvers,
      widget: widgetResolvers,
      domain: domainResolvers,
      identity: identityResolvers,
      message: messageResolvers,
      suppression: suppressionResolvers,
    }),
    open: contexts.open,
    http: answering({
      ...aiExchanges,
      ...exchanges,
      ...email.exchanges,
      ...credentialExchanges(contexts.forRequest),
      ...videoExchanges(contexts.forRequest, log),
    }),
    streams: videoPaths,
    serviceClients: clients.serviceClients,
    receive: facts.receive,
    async start() {
      await jobs.start()
      // Told at once, and no reason not to start: readiness says it as long as it is so.
      await keys.check().catch(error => error instanceof NotReady || log.error({ err: error }, 'encryption keys in use could not be checked'))
    },
    async ready() {
      await Promise.all([jobs.check(), keys.check(), domainKeys.check()])
      return facts.lying()
    },
    async stop() {
      stopCounting()
      await Promise.all([jobs.stop(), facts.stop(), credentialsInUse.settled(), clients.settle(), spending.stop()])
      email.close()
    },
  }
}
