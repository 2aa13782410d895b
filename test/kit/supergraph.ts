import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import type { DocumentNode } from 'graphql'
import { Registry } from 'prom-client'
import { type Config, readConfig } from '../../config.ts'
import { createOpenPool } from '../../db/connect.ts'
import { createCipher } from '../../platform/cipher.ts'
import { newId } from '../../platform/ids.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { createOutbound, type Outbound } from '../../platform/outbound.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { createLog } from '../../router/door/log.ts'
import { createHosts } from '../../router/hosts.ts'
import { registerFigures } from '../../router/metrics/figure.ts'
import { watchJobs } from '../../router/metrics/jobs.ts'
import type { Platform } from '../../router/start/assemble.ts'
import type { EngineSettings } from '../../router/start/engine.ts'
import type { Browser } from '../../subgraphs/browser.ts'
import type { Job } from '../../subgraphs/publishing/context.ts'
import { callbackUrl } from '../../subgraphs/publishing/integration/rules.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { type Answer, readAnswer } from './answer.ts'
import { assembleGraph, carried } from './assembled.ts'
import { type Collector, collect } from './collector.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { createSeed, type Seed } from './seed.ts'
import { type StandIn, standIn } from './stand-in.ts'
import { countStatements } from './statements.ts'
import { type BoundTime, boundTime } from './time.ts'

export interface SupergraphOptions {
  /** The moment at which time stands still. @default a Monday morning */
  readonly now?: string
  /** Whether there is an X to publish to; without, no application is set up for it. @default false */
  readonly sandbox?: boolean
  /** Origin under which clients would reach it. @default http://localhost:4000 */
  readonly publicUrl?: string
  /** Origins of third parties that may lie on a private address, besides the sandbox. @default none */
  readonly trusts?: readonly string[]
  /** What one caller may make, where it is not what configuration says by itself. */
  readonly quotas?: Partial<Config['quotas']>
  /** How operations run, where it is not what configuration says in production. */
  readonly running?: Partial<EngineSettings>
  /** How many ms this process' clock is behind the database's. @default 0 */
  readonly behindMs?: number
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
  execute(document: string, variables?: Record<string, unknown>, as?: As): Promise<Answer>
  /** Subscribes; throws when the subscription is refused. */
  subscribe(document: string, variables?: Record<string, unknown>, as?: As): Promise<Collector>
  /** Subscribes, or tells why not. */
  trySubscription(document: string, variables?: Record<string, unknown>, as?: As): Promise<Collector | Answer>
  /** What a subscription that is to be refused answers. */
  refusedSubscription(document: string, variables?: Record<string, unknown>, as?: As): Promise<Answer>
  /** How many listeners all topics have together. */
  listeners(): number
  /** The SQL statements that the work costs. */
  statements(work: () => Promise<unknown>): Promise<string[]>
  /** Reads rows past every rule. */
  rows<Row extends object = Record<string, unknown>>(sql: string, bind?: unknown[]): Promise<Row[]>
}

/** Opens a platform for one test: `await using graph = await supergraph()`. */
export async function supergraph({
  now,
  sandbox = false,
  publicUrl = 'http://localhost:4000',
  trusts = [],
  quotas,
  running,
  behindMs = 0,
}: SupergraphOptions = {}): Promise<Supergraph> {
  await using opening = new AsyncDisposableStack()
  const clock = boundTime(now)
  const database = opening.use(await createTestDatabase())
  // pg-boss asks SQL for the time: every session of this database, the warm one included, is to read the bound one.
  const name = new URL(database.url).pathname.slice(1)
  await database.sequelize.query(`alter database ${name} set pgboss.test_clock = 'on'`)
  await database.sequelize.query(`set pgboss.test_clock = 'on'`)
  const x = sandbox ? opening.use(await standIn(clock, callbackUrl(publicUrl, 'X'))) : null
  const way = createOutbound([...trusts, ...(x ? [x.origin] : [])])
  opening.defer(() => way.close())
  const sent: string[] = []
  const outbound: Outbound = async (url, options) => {
    const place = sent.push(`${options?.method ?? 'GET'} ${new URL(url).pathname}`) - 1
    const answer = await way(url, options)
    sent[place] += ` ${answer.status}`
    return answer
  }
  const lines: string[] = []
  const log = createLog('debug', sink(lines))
  const openPool = createOpenPool({ url: database.url, log })
  const metrics = new Registry()
  const jobs = watchJobs(() => clock.now().getTime())
  registerFigures(metrics, jobs.figures)
  const { platform, listeners } = await assembleGraph(
    {
      environment: 'development',
      publicUrl,
      sequelize: database.sequelize,
      openPool,
      openJobs: createOpenJobs({ openPool, clock: clock.jobs, watch: jobs.watch }),
      clock: behindMs > 0 ? { now: () => new Date(clock.now().getTime() - behindMs) } : clock,
      cipher: createCipher([{ id: 'test', key: randomBytes(32) }]),
      authSecret: randomBytes(32).toString('hex'),
      outbound,
      metrics,
      applications: x ? { X: x.settings } : {},
      hosts: createHosts(publicUrl, []),
      quotas: { ...readConfig({}).quotas, ...quotas },
      retention: readConfig({}).retention,
      paymentsAddresses: readConfig({}).paymentsAddresses,
      allowedOrigins: [...trusts, ...(x ? [x.origin] : [])],
      // As clients elsewhere see it: without the text of internal errors.
      running: { ...readConfig({}), environment: 'production', ...running },
      log,
    },
    opening,
  )
  // Identity alone has nothing that runs: its start warms up sign-in, which few tests need.
  await Promise.all(platform.subgraphs.filter(subgraph => subgraph !== platform.identity).map(subgraph => subgraph.start()))
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
    const started = await engine.subscribe(asked)
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
    get x() {
      if (!x) throw new Error('this supergraph has no X: open it with { sandbox: true }')
      return x
    },
    async execute(text, variables = {}, { as = anonymous, browser } = {}) {
      const asked = request(text, variables, as)
      return answer(await engine.execute({ ...asked, browser }), text, asked)
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
    statements: async work => (await countStatements(work, { ignore: carried })).statements,
    rows: async <Row extends object>(sql: string, bind: unknown[] = []) => (await database.sequelize.query(sql, { bind }))[0] as Row[],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
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
