import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { createBudget } from '../../db/budget.ts'
import { connect, createOpenPool } from '../../db/connect.ts'
import { demoPassword, demoWorld, provideDemo } from '../../db/demo.ts'
import { checkDemoAccounts } from '../../db/demo-removal.ts'
import { watchDatabase } from '../../db/health.ts'
import { migrate } from '../../db/migrate.ts'
import { createCipher } from '../../platform/cipher.ts'
import { systemClock } from '../../platform/clock.ts'
import { armCrash } from '../../platform/crash.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import { createOpenJobs } from '../../platform/jobs.ts'
import { createOutbound } from '../../platform/outbound.ts'
import { hostsOf } from '../hosts.ts'
import { createRouter } from '../router.ts'
import { compose } from './compose.ts'
import type { Keys } from './keys.ts'
import { listenAt } from './listen.ts'
import { untilAborted } from './process/abort.ts'
import { openSandbox } from './sandbox.ts'

export interface Assembly {
  readonly config: Config
  readonly keys: Keys
  readonly databaseUrl: string
  readonly log: Logger
  /** Takes what has to be stopped again, in the order in which it was started. */
  readonly stack: AsyncDisposableStack
  readonly signal: AbortSignal
}

export interface Assembled {
  readonly url: string
  readonly demo: { readonly accounts: readonly string[]; readonly password: string; readonly sandbox: string } | null
  /** Where the first account is made; null once somebody has signed in, or with demo data. */
  readonly setup: string | null
  /** What was done otherwise than configured, a sentence each. */
  readonly notices: readonly string[]
}

const migrations = fileURLToPath(new URL('../../db/migrations', import.meta.url))

/** Puts the whole platform together on one database, in one process, and opens its doors. */
export async function assemble({ config, keys, databaseUrl, log, stack, signal }: Assembly): Promise<Assembled> {
  armCrash(config.crashAt)
  const { publicUrl, environment } = config
  const sandbox = config.demo ? await openSandbox(config) : null
  if (sandbox) stack.defer(() => sandbox.stop())
  await untilAborted(migrate({ url: databaseUrl, directory: migrations, log }), signal)

  const budget = createBudget(config.connections)
  const { sequelize, close } = connect({ url: databaseUrl, poolSize: budget.take('requests', 'Sequelize'), log })
  stack.defer(close)
  const notices = [...(sandbox?.moved ? [sandbox.moved] : []), ...(await checkDemoAccounts(sequelize, config))]
  const openPool = createOpenPool({ url: databaseUrl, log, budget })
  const health = await watchDatabase({ sequelize, migrations, log })
  stack.defer(() => health.stop())
  // A start that cannot open its door must not have published anything.
  const listening = Promise.withResolvers<void>()
  const x = config.x ?? sandbox?.x ?? null
  const hosts = hostsOf(config)
  const outbound = createOutbound(x ? [x.apiUrl, x.authorizeUrl] : [])
  stack.defer(() => outbound.close())

  const { identity, publishing, subgraphs, engine } = await compose(
    {
      environment,
      publicUrl,
      engine: config.engine,
      operationTimeoutMs: config.remote.operationMs,
      answerBytes: config.remote.answerBytes,
      sequelize,
      openPool,
      openJobs: createOpenJobs({ openPool, mayRun: health.mayRun, mayBegin: listening.promise }),
      events: createMemoryEvents(),
      clock: systemClock,
      cipher: createCipher(keys.encryptionKeys),
      authSecret: keys.authSecret,
      outbound,
      x,
      hosts,
      exposeErrors: environment === 'development',
      quotas: config.quotas,
      retention: config.retention,
      log,
    },
    stack,
  )
  if (sandbox)
    notices.push(
      ...(await provideDemo({ identity, publishing: publishing.room, outbound, clock: systemClock, dataDir: config.dataDir, sandbox: sandbox.origin })),
    )
  const setup = sandbox ? null : await identity.openSetup()
  signal.throwIfAborted()
  await Promise.all(subgraphs.map(subgraph => subgraph.start()))

  const router = await createRouter({
    engine,
    authority: identity.authority,
    subgraphs,
    host: config.host,
    port: config.port,
    publicUrl,
    environment,
    trustProxy: config.trustProxy,
    clock: systemClock,
    log,
    hosts,
    sandbox: sandbox?.origin ?? null,
    readiness: [...health.readiness, ...subgraphs.flatMap(({ registration, ready }) => (ready ? [{ name: registration.slug, check: ready }] : []))],
  })
  stack.defer(() => router.close())
  await listenAt(router, config)
  listening.resolve()
  return {
    url: publicUrl,
    demo: sandbox && { accounts: demoWorld.people.map(({ email }) => email), password: demoPassword, sandbox: sandbox.origin },
    setup: setup && publicUrl + setup,
    notices,
  }
}
