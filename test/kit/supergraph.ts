import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { DocumentNode } from 'graphql'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { type Config, readConfig } from '../../config.ts'
import { createOpenPool } from '../../db/connect.ts'
import { createCipher } from '../../platform/cipher.ts'
import type { Events } from '../../platform/events.ts'
import { newId } from '../../platform/ids.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { createCallersWay } from '../../platform/outbound/callers.ts'
import { createOutbound, type Outbound, type WayOut } from '../../platform/outbound/outbound.ts'
import { createFileStorage } from '../../platform/storage/file.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { createLog } from '../../router/door/log.ts'
import { openPlanning, type Planning } from '../../router/engine/plan/apart/planning.ts'
import { createHosts } from '../../router/hosts.ts'
import { registerFigures } from '../../router/metrics/figure.ts'
import { watchJobs } from '../../router/metrics/jobs.ts'
import type { Platform } from '../../router/start/assemble.ts'
import { type EngineSettings, ownSupergraph } from '../../router/start/engine.ts'
import type { ChallengeSettings } from '../../subgraphs/agents/registration.ts'
import type { Browser } from '../../subgraphs/http/browser.ts'
import { createCredentialServers } from '../../subgraphs/providers/credential/servers.ts'
import { addressesFrom } from '../../subgraphs/providers/engines/third-party/addresses.ts'
import type { EmailSettings } from '../../subgraphs/providers/registration.ts'
import { callbackUrl } from '../../subgraphs/publishing/connection/integration/rules.ts'
import type { Job } from '../../subgraphs/publishing/context.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { type Answer, readAnswer } from './answer.ts'
import { type Apart, assembleGraph, type CarrierKind, carried, carrierKind } from './assembled.ts'
import { type Collector, collect } from './collector.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { collectSecrets, type Secrets } from './secrets.ts'
import { createSeed, type Seed } from './seed.ts'
import { notificationSecret, policySecret, type StandIn, settlementSecret, standIn } from './stand-in.ts'
import { countStatements } from './statements.ts'
import { subscribeAlone } from './stream.ts'
import { type BoundTime, boundTime } from './time.ts'

export interface SupergraphOptions {
  /** The moment at which time stands still. @default a Monday morning */
  readonly now?: string
  /** Whether there is an X to publish to; without, no application is set up for it. @default false */
  readonly sandbox?: boolean
  /** Whether our applications at networks are configured, or none is and the gateway to providers may keep some. @default configured */
  readonly applications?: 'configured' | 'kept'
  /** Origin under which clients would reach it. @default http://localhost:4000 */
  readonly publicUrl?: string
  /** Origins of third parties that may lie on a private address, besides the sandbox. @default none */
  readonly trusts?: readonly string[]
  /** Origins on a private address that the platform itself calls, and nobody has called. @default none */
  readonly inside?: readonly string[]
  /** What one caller may make, where it is not what configuration says by itself. */
  readonly quotas?: Partial<Config['quotas']>
  /** How long models may take, where it is not what configuration says. */
  readonly aiTimes?: Partial<Config['aiTimes']>
  /** Where third parties are, where it is not where they are played or really are. */
  readonly addresses?: Partial<Config['providerAddresses']>
  /** Whether agents know the sandbox's settlement and policy service and developer platform. @default true */
  readonly neighbours?: boolean
  /** The model that makes vectors of knowledge. @default none */
  readonly embeddingModel?: string | null
  /** Who challenges visitors of the public chat. @param sandbox its origin @default the platform */
  readonly challenges?: (sandbox: string) => ChallengeSettings
  /** Whether the launcher copies the sandbox's catalogue of apps at the start. @default false */
  readonly catalogue?: boolean
  /** Whether the launcher works with the sandbox's notification service, which it reads at the start. @default false */
  readonly notificationService?: boolean
  /** Ids of prices that stand at the payment processor already. @default none */
  readonly billingPrices?: Config['billing']['prices']
  /** Who issues access tokens in place of identity. @default identity does */
  readonly foreignIssuer?: Config['foreignIssuer']
  /** What of mail of the gateway is not what configuration says by itself. */
  readonly email?: Partial<EmailSettings>
  /** What of the marketing site is not what configuration says by itself. */
  readonly marketing?: Partial<Config['marketing']>
  /** How operations run, where it is not what configuration says in production. */
  readonly running?: Partial<EngineSettings>
  /** How many ms this process' clock is behind the database's. @default 0 */
  readonly behindMs?: number
  /** Whether no other process works on its database: what a process remembers counts for it alone. @default true, without a carrier */
  readonly isAlone?: boolean
  /** Distributes the subgraphs, each behind an address of its own. @default as the run of tests says */
  readonly apart?: Apart
  /** What carries events, so that other processes on its database hear them. @default as the run of tests says */
  readonly carrier?: CarrierKind
}

export interface As {
  /** Who asks. @default anonymous */
  readonly as?: Viewer
  /** The browser that asks. @default none: a program does */
  readonly browser?: Browser
}

/** Every subgraph behind the engine and its access filter, in this process, on a database of their own. */
export interface Supergraph extends AsyncDisposable {
  readonly database: TestDatabase
  readonly clock: BoundTime
  readonly platform: Platform
  /** What publishing works with, for tests that drive delivery step by step. */
  readonly job: Job
  readonly publicUrl: string
  /** What it counts. */
  readonly metrics: Registry
  /** Tells a story that ends with the rows and viewers which a test is about. */
  readonly seed: Seed
  /** The X that was asked for. Throws when none was. */
  readonly x: StandIn
  /** What went out to third parties, in order: `POST /x/2/tweets 201`; without a status while, and when, no answer came. */
  readonly sent: readonly string[]
  /** Everything that was logged, one JSON line each, from debug on. */
  readonly log: readonly string[]
  /** What is secret of all that was sent and answered: when it closes, none of it may stand in the log, a record, a fact or a job. */
  readonly secrets: Secrets
  execute(document: string, variables?: Record<string, unknown>, as?: As): Promise<Answer>
  /** Subscribes; throws when the subscription is refused. */
  subscribe(document: string, variables?: Record<string, unknown>, as?: As): Promise<Collector>
  /** Subscribes, or tells why not. */
  trySubscription(document: string, variables?: Record<string, unknown>, as?: As): Promise<Collector | Answer>
  /** What a subscription that is to be refused answers. */
  refusedSubscription(document: string, variables?: Record<string, unknown>, as?: As): Promise<Answer>
  /** How many listeners all topics have together. */
  listeners(): number
  /** The events of each of its processes. */
  readonly events: readonly Events[]
  /** The SQL statements that the work costs. */
  statements(work: () => Promise<unknown>): Promise<string[]>
  /** Reads rows past every rule. */
  rows<Row extends object = Record<string, unknown>>(sql: string, bind?: unknown[]): Promise<Row[]>
}

/** With what the payment processor signs its events to a test's platform. */
export const processorSecret = 'whsec_of_the_processor_in_these_tests'

/** With what it signs those about bundles. */
export const billingSecret = 'whsec_of_the_bundles_in_these_tests'

let planning: Planning | undefined
/** Plans for every test of this process, and ends with it: to start what plans takes longer than most tests. */
const planningForAll = () => (planning ??= openPlanning(ownSupergraph(), { planMs: readConfig({}).remote.planMs, log: pino({ level: 'silent' }) }))

/** Opens a platform for one test: `await using graph = await supergraph()`. */
export async function supergraph({
  now,
  sandbox = false,
  applications = 'configured',
  publicUrl = 'http://localhost:4000',
  trusts = [],
  inside = [],
  quotas,
  aiTimes,
  addresses,
  neighbours = true,
  embeddingModel = null,
  challenges,
  catalogue = false,
  notificationService = false,
  foreignIssuer = null,
  billingPrices = null,
  email,
  marketing,
  running,
  behindMs = 0,
  carrier = carrierKind,
  isAlone = carrier === 'memory',
  apart,
}: SupergraphOptions = {}): Promise<Supergraph> {
  await using opening = new AsyncDisposableStack()
  const clock = boundTime(now)
  // Created with the first file.
  const folder = join(tmpdir(), `supergraph-objects-${newId()}`)
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const database = opening.use(await createTestDatabase())
  // pg-boss asks SQL for the time: every session of this database, the warm one included, is to read the bound one.
  const name = new URL(database.url).pathname.slice(1)
  await database.sequelize.query(`alter database ${name} set pgboss.test_clock = 'on'`)
  await database.sequelize.query(`set pgboss.test_clock = 'on'`)
  const x = sandbox ? opening.use(await standIn(clock, platform => callbackUrl(publicUrl, platform))) : null
  const way = createOutbound([...trusts, ...inside, ...(x ? [x.origin] : [])])
  opening.defer(() => way.close())
  const secrets = collectSecrets()
  // Applications' secrets, and below the tokens that networks answer.
  secrets.note(x?.applications)
  const sent: string[] = []
  const noted = async <Answer extends { readonly status: number }>(url: string | URL, method: string | undefined, asking: () => Promise<Answer>) => {
    const place = sent.push(`${method ?? 'GET'} ${new URL(url).pathname}`) - 1
    const answer = await asking()
    sent[place] += ` ${answer.status}`
    return answer
  }
  const asked: Outbound = async (url, options) => {
    const answer = await noted(url, options?.method, () => way(url, options))
    secrets.noteText(answer.text)
    return answer
  }
  const outbound: WayOut = Object.assign(asked, {
    stream: ((url, options) => noted(url, options?.method, () => way.stream(url, options))) satisfies WayOut['stream'],
  })
  const callersWay = createCallersWay([...trusts, ...(x ? [x.origin] : [])])
  opening.defer(() => callersWay.close())
  const lines: string[] = []
  const log = createLog('debug', sink(lines))
  const openPool = createOpenPool({ url: database.url, log })
  const metrics = new Registry()
  const jobs = watchJobs(() => clock.now().getTime())
  registerFigures(metrics, jobs.figures)
  const { platform, events, listeners } = await assembleGraph(
    {
      environment: 'development',
      publicUrl,
      sequelize: database.sequelize,
      openPool,
      openJobs: createOpenJobs({ openPool, clock: clock.jobs, watch: jobs.watch }),
      isAlone,
      clock: behindMs > 0 ? { now: () => new Date(clock.now().getTime() - behindMs) } : clock,
      cipher: createCipher([{ id: 'test', key: randomBytes(32) }]),
      authSecret: randomBytes(32).toString('hex'),
      storage: createFileStorage(folder),
      outbound,
      callersWay,
      metrics,
      applications: (applications === 'configured' && x?.applications) || {},
      whereabouts: x?.whereabouts ?? {},
      hosts: createHosts(publicUrl, []),
      quotas: { ...readConfig({}).quotas, ...quotas },
      retention: readConfig({}).retention,
      prices: readConfig({}).prices,
      aiTimes: { ...readConfig({}).aiTimes, ...aiTimes },
      email: { ...readConfig({}).email, allowedServers: [], dnsServers: ['127.0.0.1:9'], ...email },
      paymentsAddresses: readConfig({}).paymentsAddresses,
      paymentsSettlement: { url: x ? `${x.origin}/settlement/callbacks` : null, secrets: [settlementSecret] },
      paymentsEvents: { stripe: [processorSecret] },
      billing: { stripe: [billingSecret], prices: billingPrices },
      signUp: 'open',
      registry: { production: null },
      mobileBuilds: {},
      foreignIssuer,
      mail: readConfig({}).mail,
      // Tests decide which requests leave.
      synchronisesModels: false,
      thirdParties: addressesFrom({ ...readConfig({}).providerAddresses, ...addresses }, x?.origin ?? null),
      credentialServers: createCredentialServers([...trusts, ...(x ? [x.origin] : [])], { reserved: inside }),
      connectorsWay: callersWay,
      agentsNeighbours: {
        embeddingModel,
        ...(x && neighbours
          ? { policyService: { url: `${x.origin}/settlement`, secrets: [policySecret] }, developersUrl: `${x.origin}/developers` }
          : { policyService: null, developersUrl: null }),
      },
      publicChat: { site: null, challengeSecret: null, challengeProvider: x && challenges ? challenges(x.origin) : null },
      marketing: { ...readConfig({}).marketing, consentUrl: x ? `${x.origin}/consent` : null, ...marketing },
      reaching: {
        service: x && notificationService ? { url: `${x.origin}/notifications`, secrets: [notificationSecret] } : null,
        vapid: { privateKey: null, subject: 'mailto:ops@example.test' },
      },
      launcherNeighbours: { developersUrl: x && catalogue ? `${x.origin}/developers` : null },
      // The view of clients in production: without the text of internal errors.
      running: { ...readConfig({}), environment: 'production', ...(running ?? { planning: planningForAll() }) },
      log,
    },
    opening,
    apart,
    carrier,
  )
  await Promise.all(platform.subgraphs.map(subgraph => subgraph.start()))
  const { engine } = platform
  const documents = createDocuments(engine.schema, { introspection: true })
  const read = (text: string): DocumentNode => {
    const found = documents.read(text)
    if ('document' in found) return found.document
    throw new Error(`The document is not valid:\n${text}\n${found.errors.map(error => error.message).join('\n')}`)
  }
  const request = (text: string, variables: Record<string, unknown>, viewer: Viewer) => ({
    document: read(text),
    variables,
    viewer,
    requestId: newId(clock.now()),
  })
  const answer = (result: Parameters<typeof readAnswer>[0], text: string, { variables, viewer, requestId }: ReturnType<typeof request>) =>
    readAnswer(result, { text, variables, as: nameOf(viewer), requestId })

  const trySubscription = async (text: string, variables: Record<string, unknown> = {}, { as = anonymous }: As = {}) => {
    const asked = request(text, variables, as)
    const started = await subscribeAlone(engine, asked)
    return Symbol.asyncIterator in started ? collect(started) : answer(started, text, asked)
  }

  const open = opening.move()
  const graph: Omit<Supergraph, 'seed'> = {
    database,
    clock,
    platform,
    job: platform.publishing.job(),
    publicUrl,
    metrics,
    sent,
    log: lines,
    secrets,
    get x() {
      if (!x) throw new Error('this supergraph has no X: open it with { sandbox: true }')
      return x
    },
    async execute(text, variables = {}, { as = anonymous, browser } = {}) {
      const asked = request(text, variables, as)
      const answered = answer(await engine.execute({ ...asked, browser }), text, asked)
      secrets.note(variables)
      secrets.note(answered.partial.data)
      return answered
    },
    trySubscription,
    async subscribe(text, variables, as) {
      const started = await trySubscription(text, variables, as)
      if ('end' in started) return started
      started.data()
      throw new Error(`a subscription answered data instead of a stream:\n${text}`)
    },
    async refusedSubscription(text, variables, as) {
      const started = await trySubscription(text, variables, as)
      if (!('end' in started)) return started
      await started.end()
      throw new Error(`a subscription that was to be refused began:\n${text}`)
    },
    listeners,
    events,
    statements: async work => (await countStatements(work, { ignore: carried })).statements,
    rows: async <Row extends object>(sql: string, bind: unknown[] = []) => (await database.sequelize.query(sql, { bind }))[0] as Row[],
    async [Symbol.asyncDispose]() {
      // A test may have taken the database away, or a table of it: then nothing is left to look at.
      const leaks = await secrets.leaks(lines, database.sequelize).catch(() => [])
      await open.disposeAsync()
      if (leaks.length > 0) throw new Error(`passwords, tokens, keys or codes stand where others read them:\n${leaks.slice(0, 5).join('\n')}`)
    },
  }
  return Object.defineProperties({ seed: createSeed(graph) }, Object.getOwnPropertyDescriptors(graph)) as unknown as Supergraph
}

const nameOf = ({ kind, userId, keyId, roles }: Viewer): string => [kind, userId ?? keyId, roles.join(' ')].filter(Boolean).join(' ')

const sink = (lines: string[]) =>
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
