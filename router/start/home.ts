import { fileURLToPath } from 'node:url'
import { createCarriedEvents } from '../../carriers/events.ts'
import type { Config } from '../../config.ts'
import { createBudget } from '../../db/budget.ts'
import { connect, createOpenPool } from '../../db/connect.ts'
import { checkDemoAccounts } from '../../db/demo-removal.ts'
import { watchDatabase } from '../../db/health.ts'
import { migrate } from '../../db/migrate.ts'
import type { Ask, CallService } from '../../platform/ask.ts'
import { createCipher } from '../../platform/cipher.ts'
import { systemClock } from '../../platform/clock.ts'
import type { FactCarrier } from '../../platform/jobs/facts/fact.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { createCallersWay } from '../../platform/outbound/callers.ts'
import { createNames } from '../../platform/outbound/names.ts'
import { createOutbound, type WayOut } from '../../platform/outbound/outbound.ts'
import { placeOf } from '../../platform/smtp/dial.ts'
import { tellingAway } from '../../platform/storage/away.ts'
import { createFileStorage } from '../../platform/storage/file.ts'
import { createStorageHealth, reasonOf } from '../../platform/storage/health.ts'
import { addressOfBucket, createS3Storage } from '../../platform/storage/s3.ts'
import type { OpenStorage } from '../../platform/storage/storage.ts'
import { StartError } from '../../start-error.ts'
import type { AgentsSettings } from '../../subgraphs/agents/registration.ts'
import { createCredentialServers } from '../../subgraphs/providers/credential/servers.ts'
import { addressesFrom, chosenOrigins } from '../../subgraphs/providers/engines/third-party/addresses.ts'
import { addressesOf } from '../../subgraphs/publishing/network/network.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import type { ReadinessCheck } from '../door/health.ts'
import type { Engine } from '../engine/engine.ts'
import { hostsOf } from '../hosts.ts'
import { registerFigures } from '../metrics/figure.ts'
import { watchJobs } from '../metrics/jobs.ts'
import { watchPools } from '../metrics/pools.ts'
import { createUsageStore, type UsageStore } from '../metrics/usage/store.ts'
import { assemble, type Deps, defineSubgraphs, register } from './assemble.ts'
import type { Keys } from './keys.ts'
import { untilAborted } from './process/abort.ts'
import { openCarrier } from './process/cache/events.ts'
import { openResponseCache } from './process/cache/response-cache.ts'
import { type Defined, type ListedSlug, listedSlugs, readRegistrations } from './registry.ts'
import type { OpenSandbox } from './sandbox.ts'
import type { Configured } from './settings.ts'
import type { Process } from './startup.ts'

/** Which subgraphs a process runs, and their surroundings. */
export interface HomeParts {
  readonly databaseUrl: string
  readonly keys: Keys
  /** Our applications at networks, or the sandbox's in their place. */
  readonly applications: Configured['applications']
  /** Addresses of the networks that the sandbox plays. @default the configured ones */
  readonly whereabouts?: Configured['whereabouts'] | undefined
  /** Origin of the sandbox, if there is one. */
  readonly sandbox?: string | undefined
  /** The sandbox's mail server, which receives our mails if no other one is configured. */
  readonly mailServer?: OpenSandbox['mailServer'] | undefined
  /** The sandbox's DNS and signing secret for the gateway's mail, if nothing else is configured. */
  readonly mailing?: OpenSandbox['mailing'] | undefined
  /** Secret with which the sandbox's payment processor signs events, if nothing else is configured. */
  /** The sandbox's settlement service, which receives callbacks on batches; null if there is none. */
  readonly settlement?: OpenSandbox['settlement'] | undefined
  /** The sandbox's notification service, whose items join the queue if no other one is configured. */
  readonly notificationService?: OpenSandbox['notificationService'] | undefined
  readonly eventsOfProcessor?: OpenSandbox['processor']['webhookSecret'] | undefined
  readonly eventsOfBilling?: OpenSandbox['processor']['billingSecret'] | undefined
  /**
   * The subgraph that runs in this process, and its ways to send operations, calls and facts to the others. @default
   * all subgraphs run here, with the engine between them
   */
  readonly apart?: { readonly slug: ListedSlug; readonly ask: Ask; readonly call: CallService | null; readonly carrier: FactCarrier }
}

/** The subgraphs of a process with their database. */
export interface Home {
  readonly defined: Partial<Defined>
  readonly subgraphs: readonly Subgraph[]
  /** The engine, if all subgraphs are in this process. */
  readonly engine: Engine | null
  readonly outbound: WayOut
  /** Where routers store use of the schema. */
  readonly usageStore: UsageStore
  readonly readiness: readonly ReadinessCheck[]
  /** Sentences about anything unexpected. */
  readonly notices: readonly string[]
}

const migrations = fileURLToPath(new URL('../../db/migrations', import.meta.url))

/**
 * Opens and migrates the database, and creates the subgraphs.
 * @param mayBegin jobs and sweeps wait until it resolves
 */
export async function openHome({ config, log, metrics, tracing, stack, signal }: Process, parts: HomeParts, mayBegin: Promise<void>): Promise<Home> {
  const { databaseUrl: url, apart } = parts
  await untilAborted(migrate({ url, directory: migrations, log }), signal)
  const budget = createBudget(config.connections)
  const { sequelize, close } = connect({ url, poolSize: budget.take('requests', 'Sequelize'), log })
  stack.defer(close)
  const opener = createOpenPool({ url, log, budget })
  const pools = watchPools(opener, sequelize)
  const { openPool } = pools
  const jobs = watchJobs()
  registerFigures(metrics, [...pools.figures, ...jobs.figures])
  const notices = apart && apart.slug !== 'identity' ? [] : await checkDemoAccounts(sequelize, config)
  const health = await watchDatabase({ sequelize, migrations, checkPools: opener.checkSessions, log })
  stack.defer(() => health.stop())
  const openJobs = createOpenJobs({ openPool, mayRun: health.mayRun, mayBegin, watch: jobs.watch, tracing })
  const carrier = await openCarrier(config, Boolean(apart), { openPool, log })
  const events = createCarriedEvents({ carrier, log })
  stack.defer(() => events.stop())
  // Where subgraphs are apart, the cache is the router's.
  if (!apart) openResponseCache(config.responseCache, { metrics, log, stack }, events)
  const deps = depsOf({ config, log, metrics, stack }, parts, { sequelize, openPool, openJobs, events, isAlone: carrier === null })
  const keeping = noteUse(deps)
  const made = apart ? await alone(apart) : await assemble({ ...keeping.deps, running: config }, stack)
  const subgraphs = listedSlugs.flatMap(slug => made[slug] ?? [])
  const storing = keeping.isUsed() ? await watchStorage(config, deps.storage) : null
  const checks = subgraphs.flatMap(({ registration, ready }) => (ready ? [{ name: registration.slug, check: ready }] : []))
  return {
    defined: made,
    subgraphs,
    engine: made.engine ?? null,
    outbound: deps.outbound,
    usageStore: createUsageStore(sequelize),
    readiness: [...health.readiness, { name: 'events', check: events.check }, ...(storing ? [storing.readiness] : []), ...checks],
    notices: [...notices, ...(storing?.notices ?? [])],
  }

  async function alone({ slug, ask, call, carrier }: NonNullable<HomeParts['apart']>): Promise<Partial<Defined> & { readonly engine?: undefined }> {
    const defined: Partial<Defined> = await defineSubgraphs([slug], { ...keeping.deps, ask, call, carrier }, stack)
    if (defined.identity) await register(defined.identity, await readRegistrations(), deps.hosts)
    return defined
  }
}

/** Wraps the dependencies to note whether a subgraph opened the file storage. */
function noteUse(deps: Deps): { readonly deps: Deps; isUsed(): boolean } {
  let used = false
  const storage: OpenStorage = prefix => {
    used = true
    return deps.storage(prefix)
  }
  return { deps: { ...deps, storage }, isUsed: () => used }
}

/**
 * Writes a probe to the file storage at the start, and with each readiness check.
 * @throws StartError where a folder cannot be written: only another setting or mount mends that. An unavailable bucket
 * may return, so it is a notice.
 */
async function watchStorage({ objects }: Config, open: OpenStorage): Promise<{ readonly readiness: ReadinessCheck; readonly notices: readonly string[] }> {
  const name = 'bucket' in objects ? `the bucket ${objects.bucket.bucket} (S3_BUCKET)` : `the folder ${objects.folder} (STORAGE_DIR)`
  const health = createStorageHealth(open('health'), name)
  if ('folder' in objects) {
    try {
      await health.write()
    } catch (error) {
      throw new StartError(
        `${name} cannot be written (${reasonOf(error)}): mount a volume there, name another folder with STORAGE_DIR, or keep files in a bucket with STORAGE=s3`,
        error,
      )
    }
  }
  const notice = await health.check()
  return { readiness: { name: 'storage', check: health.check }, notices: notice ? [notice] : [] }
}

/** Returns the address of a configured mail server in words. */
function mailPlaceOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin)
  return placeOf(hostname, Number(port) || { 'smtps:': 465, 'smtp:': 587, 'https:': 443 }[protocol] || 80)
}

/** Builds the subgraphs' dependencies from the configuration and an open database. */
export function depsOf(
  { config, log, metrics, stack }: Pick<Process, 'config' | 'log' | 'metrics' | 'stack'>,
  {
    keys,
    applications,
    sandbox,
    mailServer = null,
    mailing,
    eventsOfProcessor = null,
    eventsOfBilling = null,
    settlement = null,
    notificationService = null,
    ...played
  }: Pick<
    HomeParts,
    | 'keys'
    | 'applications'
    | 'whereabouts'
    | 'sandbox'
    | 'mailServer'
    | 'mailing'
    | 'eventsOfProcessor'
    | 'eventsOfBilling'
    | 'settlement'
    | 'notificationService'
  >,
  database: Pick<Deps, 'sequelize' | 'openPool' | 'openJobs' | 'events' | 'isAlone'>,
): Deps {
  const { environment, publicUrl, quotas, retention, prices, aiTimes, paymentsAddresses, signUp, registry, foreignIssuer } = config
  const mail = { ...config.mail, server: config.mail.server ?? mailServer }
  // The sandbox's mail server is named by host and port, as an origin is.
  const mails = mailServer ? [`http://${placeOf(mailServer.host, mailServer.port)}`] : []
  const allowedOrigins = [...config.outboundAllow, ...(sandbox ? [sandbox] : []), ...mails]
  // The operator's mail server may have any address, also if the gateway has a credential for it.
  const servers = [...allowedOrigins.map(mailPlaceOf), ...(mail.server ? [placeOf(mail.server.host, mail.server.port)] : [])]
  const email = {
    ...config.email,
    dnsServers: config.email.dnsServers ?? (mailing?.dns ? [mailing.dns] : null),
    eventsSecret: config.email.eventsSecret ?? mailing?.eventsSecret ?? null,
    allowedServers: servers,
  }
  const whereabouts = { ...config.whereabouts, ...played.whereabouts }
  const callbacks = {
    url: config.paymentsSettlement.url ?? settlement?.url ?? null,
    secrets: config.paymentsSettlement.secrets ?? (settlement ? [settlement.secret] : null),
  }
  const { settlementUrl, settlementSecrets, developersUrl, embeddingModel } = config.agentsNeighbours
  const agentsNeighbours = {
    policyService: settlementUrl
      ? { url: settlementUrl, secrets: settlementSecrets! }
      : settlement && { url: settlement.policy.url, secrets: [settlement.policy.secret] },
    developersUrl: developersUrl ?? (sandbox ? `${sandbox}/developers` : null),
    embeddingModel,
  }
  const consentUrl = config.marketing.consentUrl ?? (sandbox ? `${sandbox}/consent` : null)
  const { serviceUrl, serviceSecrets, vapidPrivateKey, vapidSubject } = config.notifications
  const reaching = {
    service: serviceUrl ? { url: serviceUrl, secrets: serviceSecrets ?? [] } : notificationService,
    vapid: { privateKey: vapidPrivateKey, subject: vapidSubject ?? (publicUrl.startsWith('https:') ? publicUrl : 'mailto:webmaster@localhost') },
  }
  const names = createNames({ servers: config.outboundDns })
  const ownOrigins = [
    ...[...Object.values(applications), ...Object.values(whereabouts)].flatMap(addressesOf),
    ...('bucket' in config.objects ? [addressOfBucket(config.objects.bucket)] : []),
    ...(registry.production ? [registry.production] : []),
    ...chosenOrigins(config.providerAddresses),
    ...[callbacks.url, settlementUrl, developersUrl, consentUrl, serviceUrl, config.publicChat.challengeVerifyUrl].flatMap(url =>
      url ? [new URL(url).origin] : [],
    ),
  ]
  const outbound = createOutbound([...allowedOrigins, ...ownOrigins], names)
  stack.defer(() => outbound.close())
  const callersWay = createCallersWay(sandbox ? [sandbox] : [], names)
  stack.defer(() => callersWay.close())
  const connectorsWay = createCallersWay([...config.outboundAllow, ...(sandbox ? [sandbox] : [])], names)
  stack.defer(() => connectorsWay.close())
  const cipher = createCipher(keys.encryptionKeys)
  const objects = 'bucket' in config.objects ? createS3Storage(config.objects.bucket, outbound.stream) : createFileStorage(config.objects.folder)
  const storage = tellingAway(objects, log)
  const configured = {
    authSecret: keys.authSecret,
    applications,
    whereabouts,
    hosts: hostsOf(config),
    quotas,
    retention,
    prices,
    aiTimes,
    email,
    paymentsAddresses,
    paymentsSettlement: callbacks,
    billing: { ...config.billing, stripe: config.billing.stripe ?? (eventsOfBilling === null ? null : [eventsOfBilling]) },
    paymentsEvents: { stripe: config.paymentsEvents.stripe ?? (eventsOfProcessor === null ? null : [eventsOfProcessor]) },
    signUp,
    registry,
    mobileBuilds: config.mobileBuilds,
    foreignIssuer,
    mail,
    synchronisesModels: true,
    thirdParties: addressesFrom(config.providerAddresses, sandbox ?? null),
    credentialServers: createCredentialServers(allowedOrigins, { resolve: names, reserved: ownOrigins }),
    connectorsWay,
    agentsNeighbours,
    reaching,
    launcherNeighbours: { developersUrl: agentsNeighbours.developersUrl },
    marketing: { ...config.marketing, leadsMailTo: config.marketing.leadsMailTo ?? (sandbox ? 'leads@demo.test' : null), consentUrl },
    publicChat: chatOf(config, sandbox),
  }
  return { ...database, ...configured, environment, publicUrl, clock: systemClock, cipher, storage, outbound, callersWay, log, metrics }
}

/** Returns the settings of the public chat. @param sandbox its origin, where there is one */
function chatOf(config: Config, sandbox: string | undefined): AgentsSettings['publicChat'] {
  const { site, origins, challengeProvider, challengeSecret, challengeSiteKey, challengeVerifyUrl } = config.publicChat
  const ours = { site: site ?? (sandbox ? 'demo' : null), challengeSecret }
  if (challengeProvider === 'altcha') return { ...ours, challengeProvider: null }
  const pages = new Set([...hostsOf(config).pages(), ...origins, ...config.corsOrigins].map(origin => new URL(origin).hostname))
  const isDevelopment = config.environment === 'development'
  const verifyUrl = challengeVerifyUrl ?? (sandbox ? `${sandbox}/challenge${verifyPaths[challengeProvider]}` : null)
  const isOwnPage = (name: string) => pages.has(name) || (isDevelopment && /^(?:127\.0\.0\.1|(?:[a-z\d-]+\.)*localhost)$/.test(name))
  // Without both the configuration is refused.
  return { ...ours, challengeProvider: { provider: challengeProvider, secret: challengeSecret!, siteKey: challengeSiteKey!, verifyUrl, isOwnPage } }
}

/** Where the sandbox verifies solutions. */
const verifyPaths = { turnstile: '/turnstile/v0/siteverify', hcaptcha: '/hcaptcha/siteverify' } as const
