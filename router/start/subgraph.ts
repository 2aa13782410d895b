import { fileURLToPath } from 'node:url'
import type { Config } from '../../config.ts'
import { createBudget } from '../../db/budget.ts'
import { checkConnection, connect, createOpenPool } from '../../db/connect.ts'
import { watchDatabase } from '../../db/health.ts'
import { migrate } from '../../db/migrate.ts'
import { createCipher } from '../../platform/cipher.ts'
import { systemClock } from '../../platform/clock.ts'
import { armCrash } from '../../platform/crash.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import { createOpenJobs } from '../../platform/jobs.ts'
import { createOutbound } from '../../platform/outbound.ts'
import { StartError } from '../../start-error.ts'
import { createSealReader } from '../../subgraphs/seal.ts'
import type { Foundation } from '../../subgraphs/subgraph.ts'
import { createRemoteAsk, rememberSeals } from '../apart/ask.ts'
import { answerAuthority, authorityPath } from '../apart/authority.ts'
import { watchSealTimes } from '../apart/seal-times.ts'
import { type SubgraphServerOptions, serveSubgraph } from '../apart/server.ts'
import { createLog } from '../door/log.ts'
import { hostsOf } from '../hosts.ts'
import { requireSlug, requireSubgraphConfig } from './apart.ts'
import { untilAborted } from './process/abort.ts'
import { missingNetworks } from './process/notices.ts'
import type { Tell } from './process/tell.ts'
import { type Defined, loadDefinition, readRegistrations } from './registry.ts'
import type { Running, Startup } from './run.ts'
import { settingsFrom } from './settings.ts'

type Internal = NonNullable<SubgraphServerOptions['internal']>

/**
 * One subgraph as a process of its own, on the database of all: it answers the router alone. Events stay within the process
 * until they have a carrier between processes.
 * @param word its slug
 * @throws StartError when there is no such subgraph, it is told too little, or its port is taken
 */
export async function startSubgraph(config: Config, word: string, { signal, tell }: Startup): Promise<Running> {
  const began = performance.now()
  const slug = requireSlug(word)
  const { databaseUrl, publicKeys, authSecret, encryptionKeys } = requireSubgraphConfig(config)
  armCrash(config.crashAt)
  const log = createLog(config.logLevel)
  await using starting = new AsyncDisposableStack()
  await untilAborted(checkConnection(databaseUrl), signal)
  const migrations = fileURLToPath(new URL('../../db/migrations', import.meta.url))
  await untilAborted(migrate({ url: databaseUrl, directory: migrations, log }), signal)
  const budget = createBudget(config.connections)
  const { sequelize, close } = connect({ url: databaseUrl, poolSize: budget.take('requests', 'Sequelize'), log })
  starting.defer(close)
  const openPool = createOpenPool({ url: databaseUrl, log, budget })
  const health = await watchDatabase({ sequelize, migrations, log })
  starting.defer(() => health.stop())
  const outbound = createOutbound(config.x ? [config.x.apiUrl, config.x.authorizeUrl] : [])
  starting.defer(() => outbound.close())
  // A start that cannot open its door must not have published anything.
  const listening = Promise.withResolvers<void>()
  const times = watchSealTimes(log)
  const seals = rememberSeals(createSealReader({ audience: slug, keys: publicKeys, clock: systemClock, told: times.told }))
  const foundation: Foundation = {
    environment: config.environment,
    publicUrl: config.publicUrl,
    sequelize,
    openPool,
    openJobs: createOpenJobs({ openPool, mayRun: health.mayRun, mayBegin: listening.promise }),
    events: createMemoryEvents(),
    ask: createRemoteAsk(config.routerUrl, seals),
    clock: systemClock,
    cipher: createCipher(encryptionKeys),
    outbound,
    log,
  }
  const define = await loadDefinition(slug)
  const subgraph = define(foundation, settingsFrom({ ...config, authSecret, hosts: hostsOf(config) }))
  starting.defer(() => subgraph.stop())
  if (slug === 'identity') for (const notice of await (await import('../../db/demo-removal.ts')).checkDemoAccounts(sequelize, config)) tell.warn(notice)
  if (slug === 'publishing') for (const notice of missingNetworks(config)) tell.warn(notice)
  const internal = slug === 'identity' ? await openIdentity(subgraph as Defined['identity'], config.publicUrl, tell) : new Map()
  await subgraph.start()
  const server = await serveSubgraph({
    subgraph,
    seals,
    host: config.host,
    port: config.port,
    publicUrl: config.publicUrl,
    exposeErrors: config.environment === 'development',
    internal,
    readiness: [...health.readiness, { name: 'seals', check: times.check }, ...(subgraph.ready ? [{ name: slug, check: subgraph.ready }] : [])],
    log,
  }).catch(error => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartError(`port ${config.port} is taken: stop what listens there, or set PORT to another one and ${slug.toUpperCase()}_URL at the router`, error)
  })
  starting.defer(() => server.close())
  listening.resolve()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  tell.ready({ seconds, url: `http://localhost:${server.port}/graphql`, banner: [`subgraph ${slug}`], facts: { subgraph: slug } })
  const stack = starting.move()
  return { stop: () => stack.disposeAsync() }
}

/** What identity alone does when it runs apart: it keeps the registry of services, and answers the router's questions about credentials. */
async function openIdentity(identity: Defined['identity'], publicUrl: string, tell: Tell): Promise<Internal> {
  const registrations = await readRegistrations()
  await identity.registerServices(registrations, Object.fromEntries(registrations.map(({ slug }) => [slug, { api: `${publicUrl}/${slug}` }])))
  const setup = await identity.openSetup()
  if (setup) tell.say(`nobody has signed in yet: open ${publicUrl}${setup} within a day to make the first account`)
  return new Map([[authorityPath, answerAuthority(identity.authority)]])
}
