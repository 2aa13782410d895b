import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { agentsNeighbours, publicChat } from './config/agents.ts'
import { documents, operations, overrides, rates, responseCache, streams, supergraphs, usage } from './config/asking.ts'
import { type Connections, connections } from './config/connections.ts'
import { demo, eachSubgraph, events, keeping, mail, outwards, place, remote, seal, secrets, storage, testing, tracing } from './config/families.ts'
import { hostMistakes, hosts, type ServiceOrigin, serviceOrigins } from './config/hosts.ts'
import { accounts, foreignIssuer, registry } from './config/identity.ts'
import { billing } from './config/launcher/billing.ts'
import { marketing } from './config/launcher/marketing.ts'
import { type MobileBuilds, mobileBuilds, mobileBuildsOf, mobileMistakes } from './config/launcher/mobile.ts'
import { notifications } from './config/launcher/notifications.ts'
import { readApplications } from './config/networks.ts'
import { addressOfS3, type Objects, objects, objectsOf } from './config/objects.ts'
import { paymentsAddresses, paymentsEvents, paymentsSettlement } from './config/payments.ts'
import { missingBindings, missingMailServer, sharedWithProduction } from './config/production.ts'
import { aiTimes, email, prices, providerAddresses } from './config/providers.ts'
import { quotas, retention } from './config/quotas.ts'
import { type DedicatedToken, readDedicated, serviceTokens } from './config/services.ts'
import { readFamily, type Setting, type Values, type Variables } from './config/setting.ts'
import { StartError } from './start-error.ts'
import type { MailSettings } from './subgraphs/identity/mail/open.ts'
import type { Applications, NetworkPlaces } from './subgraphs/publishing/network/networks.ts'
import type { Slug } from './subgraphs/scopes.ts'

export type { NamedKey } from './config/readers.ts'

/** What an organization may spend in a month with credentials of the platform where no setting says it, in micro-dollars: 5 US dollars. */
const defaultPlatformMicros = 5_000_000n

/** Settings that are what they were read as: `config/families.ts` says what each means. */
type AsRead = Omit<Values<typeof place>, 'publicUrl' | 'logLevel'> & Values<typeof storage> & Values<typeof secrets> & Pick<Values<typeof operations>, 'engine'>

/** Everything the platform is told by its environment: read once, here, and nowhere else. */
export interface Config extends AsRead {
  /** Origin under which clients reach the platform, without a trailing slash. */
  readonly publicUrl: string
  /** Where the services have addresses of their own, beside their prefix on every host. */
  readonly serviceOrigins: readonly ServiceOrigin[]
  readonly logLevel: NonNullable<Values<typeof place>['logLevel']>
  /**
   * Whether there are demo data, a sandbox and printed passwords: in development where nobody else can reach it (HOST and PUBLIC_URL are
   * loopback), or when asked for; never in production.
   */
  readonly demo: boolean
  readonly sandbox: {
    /** Where the sandbox listens; a free port when it is taken. */
    readonly port: number
    /** Where its mail server listens; a free port when it is taken. */
    readonly smtpPort: number
    /** Where its server of DNS listens; a free port when it is taken. */
    readonly dnsPort: number
    /** Folder of a sandbox that runs as a process of its own; null: it runs within this one. */
    readonly folder: string | null
  }
  /** How mails leave; without a server the sandbox's takes them, where there is one. */
  readonly mail: MailSettings
  /** Our applications at networks that posts go to. */
  readonly applications: Applications
  /** Where each network is whose protocol the platform speaks, for applications that are kept elsewhere. */
  readonly whereabouts: NetworkPlaces
  /** Where pictures and films are kept. */
  readonly objects: Objects
  /** What this process may have open to its database. */
  readonly connections: Connections
  readonly quotas: Omit<Values<typeof quotas>, 'platformCredentialsMicros'> & { readonly platformCredentialsMicros: bigint | null }
  readonly retention: Values<typeof retention>
  /** Where the pages of payments find the parts of the platform: origins. */
  readonly paymentsAddresses: { readonly auth: string; readonly gateway: string; readonly app: string }
  /** With what the payment processor signs its events; null: none are taken. */
  /** Where settlement hears of its batches, and with what that is signed. */
  readonly paymentsSettlement: { readonly url: string | null; readonly secrets: readonly string[] | null }
  readonly paymentsEvents: { readonly stripe: readonly string[] | null }
  /** The parties outside that agents work with; null: there is none. */
  readonly agentsNeighbours: Values<typeof agentsNeighbours>
  /** The chat that organizations offer to everybody. */
  readonly publicChat: Values<typeof publicChat>
  /** With what the payment processor signs its events about bundles. */
  readonly billing: Values<typeof billing>
  /** The marketing site: its leads, its demos, and what visitors decide about cookies. */
  readonly marketing: Values<typeof marketing>
  /** Ways by which notifications reach people. */
  readonly notifications: Values<typeof notifications>
  /** Where third parties of the gateway are, as far as configured. */
  readonly providerAddresses: Values<typeof providerAddresses>
  /** What calls of providers cost where no model has a price, in micro-dollars. */
  readonly prices: Values<typeof prices>
  readonly aiTimes: Values<typeof aiTimes>
  /** Mail of the gateway. */
  readonly email: Omit<Values<typeof email>, 'domain'> & { readonly domain: string }
  /** Origins that may be called although they lie on a private address. */
  readonly outboundAllow: readonly string[]
  /** Servers of DNS for names that callers gave; null: those of the machine. */
  readonly outboundDns: readonly string[] | null
  /** Who may make an account. */
  readonly signUp: Values<typeof accounts>['signUp']
  /** Who issues access tokens in place of identity; null: identity does. */
  readonly foreignIssuer: { readonly issuer: string; readonly jwksUrl: string; readonly audience: string } | null
  /** Where the registry of production is, in staging. */
  readonly registry: Values<typeof registry>
  /** Native apps of the services, for the registry. */
  readonly mobileBuilds: MobileBuilds
  readonly seal: Values<typeof seal>
  /** Tokens of services, beside those of `seal.appTokens`: for the gateway to providers, and for one app at one service. */
  readonly callers: { readonly primary: string | null; readonly staged: readonly string[]; readonly dedicated: readonly DedicatedToken[] }
  /** What carries events between processes; null: what the way to start decides. */
  readonly events: Values<typeof events>
  /** Where processes of the platform find routers, without a trailing slash. */
  readonly routerUrls: readonly string[]
  /** How often callers may ask, a minute. */
  readonly rates: Values<typeof rates>
  /** Which documents clients may ask; the file as an absolute path. */
  readonly documents: Values<typeof documents>
  /** Who gets a field from the subgraph to which a labelled `@override` moves it; the file as an absolute path. */
  readonly overrides: Omit<Values<typeof overrides>, 'header'> & { readonly header: boolean }
  /** How much callers may keep open. */
  readonly streams: Values<typeof streams>
  /** Whether and how long use of the schema is recorded; null: where there is a database. */
  readonly usage: Values<typeof usage>
  /** Whether and how long answers of subgraphs are kept. */
  readonly responseCache: Values<typeof responseCache>
  readonly tracing: Values<typeof tracing>
  /** Where a router before any subgraphs reads its supergraph, and keeps it; `s3` for a source in a bucket. */
  readonly supergraphs: Omit<Values<typeof supergraphs>, 'folder'> & { readonly folder: string; readonly s3: ReturnType<typeof addressOfS3> }
  /** How operations run, and what the router does with subgraphs that it reaches over HTTP. */
  readonly remote: Omit<Values<typeof operations> & Values<typeof remote>, 'engine' | 'routerUrl'>
  /**
   * Where the replicas of a subgraph answer, when `<NAME>_URL` says so: `NAME` is its name in capitals, other characters as underscores.
   * @throws StartError for a value that is no address
   */
  subgraphUrls(name: string): readonly string[] | null
  /**
   * Milliseconds that one fetch from a subgraph may take, when `<NAME>_TIMEOUT_MS` says so.
   * @throws StartError for a value that is no number of milliseconds
   */
  subgraphTimeoutMs(name: string): number | null
  /**
   * How a subgraph is subscribed to: `<NAME>_SUBSCRIPTIONS`, else `SUBGRAPH_SUBSCRIPTIONS`.
   * @throws StartError for a protocol that is not known
   */
  subgraphSubscriptions(name: string): Values<typeof remote>['subscriptions']
  /** The folder from which npm, or else this process, was started: relative paths of the command line are meant from there. */
  readonly calledFrom: string
  /** Tests only: where the process kills itself. */
  readonly crashAt: string | null
  /** The environment itself, for processes that this one starts. */
  readonly environmentVariables: Variables
  /** Who started us, so that its end is ours: npm, or what keeps processes apart; null: nobody in particular. */
  readonly startedBy: string | null
  /** The number of this process among those that share one port, from 1; null if it does not share it. */
  readonly worker: number | null
}

/** Whether a name or address is this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

export interface Reading {
  /** Variables set on the command line, which take precedence over the environment. */
  readonly given?: Variables
  /** Values where neither names one. */
  readonly defaults?: Variables
  /** Whether outside development the platform's secrets must be configured. @default true */
  readonly secrets?: boolean
  /** Whether the whole platform is about to start: what that needs beside its secrets is asked for as well. @default false */
  readonly whole?: boolean
}

/**
 * Reads and checks the configuration.
 * @throws StartError with one line a mistake: the variable, what is wrong with it, what to do
 */
export function readConfig(environment: Variables = process.env, reading: Reading = {}): Config {
  // An empty variable counts as none: that is what most ways of setting variables make of "unset".
  const given = Object.fromEntries(Object.entries({ ...environment, ...reading.given }).filter(([, value]) => value !== undefined && value !== ''))
  for (const [name, value] of Object.entries(reading.defaults ?? {})) given[name] ??= value
  const mistakes: string[] = []
  const refuse = () => {
    if (mistakes.length > 0) throw new StartError(mistakes.join('\n'))
  }
  const at = readFamily(place, given, mistakes)
  const named = readFamily(hosts, given, mistakes)
  const kept = readFamily(storage, given, mistakes)
  const secret = readFamily(secrets, given, mistakes)
  const seals = readFamily(seal, given, mistakes)
  const { primary, trusted: staged } = readFamily(serviceTokens, given, mistakes)
  const dedicated = readDedicated(given, mistakes)
  const { applications, whereabouts, halves } = readApplications(given, mistakes, at.environment === 'staging')
  const objectStore = readFamily(objects, given, mistakes)
  const trial = readFamily(demo, given, mistakes)
  const mails = readFamily(mail, given, mistakes)
  const { engine, ...running } = readFamily(operations, given, mistakes)
  const { routerUrl, ...fetching } = readFamily(remote, given, mistakes)
  const often = readFamily(rates, given, mistakes)
  const trusted = readFamily(documents, given, mistakes)
  const [open, used, moving] = [readFamily(streams, given, mistakes), readFamily(usage, given, mistakes), readFamily(overrides, given, mistakes)]
  const [published, cached] = [readFamily(supergraphs, given, mistakes), readFamily(responseCache, given, mistakes)]
  const traces = readFamily(tracing, given, mistakes)
  const carried = readFamily(events, given, mistakes)
  const most = readFamily(quotas, given, mistakes)
  const keptFor = readFamily(retention, given, mistakes)
  const { auth, gateway, app } = readFamily(paymentsAddresses, given, mistakes)
  const [settlementCallbacks, paymentsSigned] = [readFamily(paymentsSettlement, given, mistakes), readFamily(paymentsEvents, given, mistakes)]
  const [chat, site, bundles] = [readFamily(publicChat, given, mistakes), readFamily(marketing, given, mistakes), readFamily(billing, given, mistakes)]
  const [neighbours, reaching] = [readFamily(agentsNeighbours, given, mistakes), readFamily(notifications, given, mistakes)]
  const thirdParties = readFamily(providerAddresses, given, mistakes)
  const fixed = readFamily(prices, given, mistakes)
  const patience = readFamily(aiTimes, given, mistakes)
  const mailing = readFamily(email, given, mistakes)
  const { allowed, dnsServers: outboundDns } = readFamily(outwards, given, mistakes)
  const entries = readFamily(registry, given, mistakes)
  const { signUp, ...native } = readFamily({ ...accounts, ...mobileBuilds }, given, mistakes)
  const { issuer, jwksUrl, audience } = readFamily(foreignIssuer, given, mistakes)
  const { crashAt, keptBy, worker } = readFamily({ ...testing, ...keeping }, given, mistakes)
  // Checks of several settings assume that each of them is valid.
  refuse()
  const publicUrl = at.publicUrl ?? `http://localhost:${at.port}`
  const loopback = [at.host, new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')].every(isLoopback)
  const developing = at.environment === 'development'
  const isDemo = trial.wanted ?? (loopback && developing)
  const platformMicros = most.platformCredentialsMicros ?? (isDemo ? 'unlimited' : defaultPlatformMicros)
  const origins = serviceOrigins(named, publicUrl, developing)
  mistakes.push(...hostMistakes(named, publicUrl), ...mobileMistakes(native))
  if (at.environment === 'staging') mistakes.push(...sharedWithProduction(at.productionHosts, given))
  else if (entries.production) mistakes.push('PRODUCTION_REGISTRY_URL: only for staging: leave it out')
  if (!developing && (reading.secrets ?? true)) mistakes.push(...missingSecrets(secret, at.environment))
  if (reading.whole)
    mistakes.push(
      ...missingBindings({ environment: at.environment, environmentVariables: given }),
      ...missingMailServer({ environment: at.environment, demo: trial.wanted ?? false, mail: { server: mails.smtpUrl } }),
    )
  mistakes.push(...halves, ...pairs.flatMap(pair => halfOf(pair, given)), ...challengeMistakes(chat))
  const keptIn = objectsOf(objectStore, resolve(kept.dataDir), mistakes)
  if (trial.wanted && at.environment === 'production')
    mistakes.push('DEMO: production has no demo accounts, whose password everybody knows: leave it out, or try the demo with ENVIRONMENT=staging')
  if (crashAt && !developing) mistakes.push('CRASH_AT: only in development, for tests')
  if (trusted.trust !== 'off' && !trusted.file) mistakes.push(`TRUSTED_DOCUMENTS: ${trusted.trust} needs TRUSTED_DOCUMENTS_FILE: set it, or leave both out`)
  if (carried.carrier === 'nats' && !carried.natsUrl) mistakes.push('EVENT_CARRIER: nats needs NATS_URL: set it, or leave both out')
  if (at.port === 0 && !at.publicUrl) mistakes.push('PORT: 0 takes a free port, whose address nobody knows beforehand: set PUBLIC_URL too, or name a port')
  refuse()
  return {
    ...at,
    ...secret,
    engine,
    publicUrl,
    serviceOrigins: origins,
    logLevel: at.logLevel ?? (developing ? 'warn' : 'info'),
    dataDir: resolve(kept.dataDir),
    databaseUrl: kept.databaseUrl,
    demo: isDemo,
    sandbox: sandboxOf(trial, at.port),
    mail: { server: mails.smtpUrl, from: mails.mailFrom ?? { name: '', address: `no-reply@${new URL(publicUrl).hostname}` } },
    applications,
    whereabouts,
    objects: keptIn,
    connections,
    quotas: { ...most, platformCredentialsMicros: platformMicros === 'unlimited' ? null : platformMicros },
    retention: keptFor,
    // Sign-in and the gateway have their prefixes on the platform's own host; pages have none, so they need a host of their own.
    paymentsAddresses: { auth: auth ?? publicUrl, gateway: gateway ?? publicUrl, app: app ?? pagesOf(origins, 'payments') ?? publicUrl },
    paymentsEvents: paymentsSigned,
    paymentsSettlement: settlementCallbacks,
    agentsNeighbours: neighbours,
    ...{ publicChat: chat, marketing: site, billing: bundles, notifications: reaching },
    providerAddresses: thirdParties,
    ...{ prices: fixed, aiTimes: patience },
    email: { ...mailing, domain: mailing.domain ?? new URL(publicUrl).hostname.replace(/^\[|\]$/g, '') },
    outboundAllow: allowed,
    outboundDns,
    signUp,
    foreignIssuer: issuer && jwksUrl ? { issuer, jwksUrl, audience } : null,
    registry: entries,
    mobileBuilds: mobileBuildsOf(native, isDemo),
    seal: seals,
    callers: { primary, staged, dedicated },
    events: carried,
    routerUrls: routerUrl ?? [publicUrl],
    rates: often,
    ...{ documents: { ...trusted, file: trusted.file && resolve(trusted.file) }, overrides: overridesOf(moving, developing) },
    ...{ streams: open, usage: used, responseCache: cached, tracing: traces },
    supergraphs: { ...published, folder: resolve(published.folder ?? `${kept.dataDir}/supergraph`), s3: addressOfS3(objectStore) },
    remote: { ...running, ...fetching },
    subgraphUrls: name => ofSubgraph(given, name, eachSubgraph.url),
    subgraphTimeoutMs: name => ofSubgraph(given, name, eachSubgraph.timeoutMs),
    subgraphSubscriptions: name => ofSubgraph(given, name, eachSubgraph.subscriptions) ?? fetching.subscriptions,
    calledFrom: environment.INIT_CWD || process.cwd(),
    crashAt,
    environmentVariables: given,
    startedBy: keptBy ?? (environment.npm_lifecycle_event ? 'npm' : null),
    worker,
  }
}

/** Settings that are set together or not at all. */
const pairs = [
  ['AUTH_ISSUER', 'AUTH_JWKS_URL'],
  ['SETTLEMENT_URL', 'SETTLEMENT_SIGNING_SECRETS'],
] as const

/** The mistake of two settings of which one is set alone. */
function halfOf(pair: (typeof pairs)[number], given: Variables): readonly string[] {
  const missing = pair.filter(name => given[name] === undefined)
  return missing.length === 1 ? [`${missing[0]}: missing: ${pair.join(' and ')} belong together, set both or neither`] : []
}

/** The mistake of a provider of challenges without its keys. */
const challengeMistakes = ({ challengeProvider, challengeSecret, challengeSiteKey }: Values<typeof publicChat>): readonly string[] =>
  challengeProvider === 'altcha' || (challengeSecret && challengeSiteKey)
    ? []
    : [`CHALLENGE_PROVIDER: ${challengeProvider} needs CHALLENGE_SECRET and CHALLENGE_SITE_KEY: set both, or leave all of them out`]

const pagesOf = (origins: readonly ServiceOrigin[], slug: Slug): string | undefined => origins.find(each => each.slug === slug && each.role !== 'api')?.origin

/** Reads a setting of one subgraph. */
function ofSubgraph<Value>(given: Variables, name: string, row: Setting<Value>): Value {
  const variable = row.name.replace('<NAME>', name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'))
  const wrong: string[] = []
  const { value } = readFamily({ value: { ...row, name: variable } }, given, wrong)
  if (wrong.length > 0) throw new StartError(wrong.join('\n'))
  return value
}

/** Returns who gets fields with a labelled override; in development a request may say so itself where nothing else is said. */
const overridesOf = (moving: Values<typeof overrides>, developing: boolean): Config['overrides'] => ({
  ...moving,
  file: moving.file && resolve(moving.file),
  header: moving.header === null ? developing : moving.header === 'on',
})

/** Returns where the sandbox listens: beside the platform where nothing else is said. */
const sandboxOf = (trial: Values<typeof demo>, port: number): Config['sandbox'] => ({
  port: trial.sandboxPort ?? Math.min(port + 100, 65535),
  smtpPort: trial.sandboxSmtpPort ?? (trial.sandboxPort === 0 ? 0 : Math.min(port + 125, 65535)),
  dnsPort: trial.sandboxDnsPort ?? (trial.sandboxPort === 0 ? 0 : Math.min(port + 126, 65535)),
  folder: trial.sandboxFolder && resolve(trial.sandboxFolder),
})

/** Returns a mistake for each secret of the platform that is missing. */
const missingSecrets = ({ authSecret, encryptionKeys }: Values<typeof secrets>, environment: string): readonly string[] => [
  ...(authSecret ? [] : [`AUTH_SECRET: missing, and ${environment} generates none: set at least 32 random characters`]),
  ...(encryptionKeys ? [] : [`ENCRYPTION_KEYS: missing, and ${environment} generates none: set k1:<32 random bytes in base64>`]),
]

/** Whether lines that the process prints are for collectors, not for eyes: known before the rest of the environment was found right. */
export const printsJson = (environment: Variables = process.env): boolean => ['staging', 'production'].includes(environment.ENVIRONMENT ?? '')

/** The source of a router's supergraph: known before the rest of the environment was found right, because it decides what starts. */
export const supergraphOf = (environment: Variables = process.env): string | null => environment.SUPERGRAPH || null
