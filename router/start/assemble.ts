import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { connect } from '../../db/connect.ts'
import { demoPassword, demoWorld, provideDemo } from '../../db/demo.ts'
import { migrate } from '../../db/migrate.ts'
import { StartError } from '../../db/start-error.ts'
import type { Ask } from '../../platform/ask.ts'
import { createCipher } from '../../platform/cipher.ts'
import { systemClock } from '../../platform/clock.ts'
import { armCrash } from '../../platform/crash.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import { createOpenJobs } from '../../platform/jobs.ts'
import { createOutbound } from '../../platform/outbound.ts'
import { defineIdentity } from '../../subgraphs/identity/definition.ts'
import { defineLauncher } from '../../subgraphs/launcher/definition.ts'
import { definePublishing } from '../../subgraphs/publishing/definition.ts'
import type { Foundation, Subgraph } from '../../subgraphs/subgraph.ts'
import { createAccessFilter } from '../access/filter.ts'
import { readAccessTable } from '../access/rules.ts'
import { createAsk } from '../ask.ts'
import { addressHeader } from '../door/forward.ts'
import { localOrigins } from '../door/hosts.ts'
import { createEngine } from '../engine/native.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import { createRouter } from '../router.ts'
import type { Keys } from './keys.ts'
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
}

/** Puts the whole platform together on one database, in one process, and opens its doors. */
export async function assemble({ config, keys, databaseUrl, log, stack, signal }: Assembly): Promise<Assembled> {
  armCrash(config.crashAt)
  const { publicUrl, environment } = config
  const sandbox = config.demo ? await openSandbox(config) : null
  if (sandbox) stack.defer(() => sandbox.stop())
  await migrate({ url: databaseUrl, directory: new URL('../../db/migrations', import.meta.url).pathname, log })
  signal.throwIfAborted()

  const { sequelize, close } = connect({ url: databaseUrl, poolSize: config.pools.sequelize, log })
  stack.defer(close)
  const x = config.x ?? sandbox?.x ?? null
  const outbound = createOutbound(x ? [x.apiUrl, x.authorizeUrl] : [])
  stack.defer(() => outbound.close())

  let ask: Ask = () => Promise.reject(new Error('nothing can be asked before the engine is there'))
  const foundation: Foundation = {
    environment,
    publicUrl,
    sequelize,
    openJobs: createOpenJobs(databaseUrl, config.pools.jobs),
    events: createMemoryEvents(),
    ask: (document, variables, as) => ask(document, variables, as),
    clock: systemClock,
    cipher: createCipher(keys.encryptionKeys),
    outbound,
    log,
  }
  const identity = defineIdentity(foundation, {
    databaseUrl,
    secret: keys.authSecret,
    trustedOrigins: localOrigins(publicUrl).map(({ origin }) => origin),
    clientAddressHeader: addressHeader,
  })
  stack.defer(() => identity.stop())
  const publishing = definePublishing(foundation, { x })
  stack.defer(() => publishing.stop())
  const launcher = defineLauncher(foundation)
  stack.defer(() => launcher.stop())
  const subgraphs = new Map<string, Subgraph>([identity, publishing, launcher].map(subgraph => [subgraph.registration.slug, subgraph as Subgraph]))
  const registrations = [...subgraphs.values()].map(subgraph => subgraph.registration)

  const supergraphSdl = readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8')
  const engine = createEngine({ supergraphSdl, transport: createEmbeddedTransport(subgraphs), access: createAccessFilter(readAccessTable(supergraphSdl)), log })
  ask = createAsk(engine, registrations)

  const addresses = Object.fromEntries(registrations.map(({ slug }) => [slug, { api: `${publicUrl}/${slug}` }]))
  await identity.registerServices(registrations, addresses)
  if (sandbox) await provideDemo({ identity, publishing: publishing.room, outbound, clock: systemClock, dataDir: config.dataDir, sandbox: sandbox.origin })
  signal.throwIfAborted()
  await Promise.all([...subgraphs.values()].map(subgraph => subgraph.start()))

  const router = await createRouter({
    engine,
    authority: identity.authority,
    subgraphs: [...subgraphs.values()],
    host: config.host,
    port: config.port,
    publicUrl,
    environment,
    trustProxy: config.trustProxy,
    clock: systemClock,
    log,
    readiness: [{ name: 'database', check: () => sequelize.query('select 1').then(() => {}) }],
  })
  stack.defer(() => router.close())
  await router.listen().catch(error => {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new StartError(`port ${config.port} is taken: stop what listens there, or set PORT to another one`, error)
    if (['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw new StartError(
        `${config.host}:${config.port} cannot be listened on (${(error as NodeJS.ErrnoException).code}): set HOST and PORT to an address of this machine`,
        error,
      )
    throw error
  })
  return {
    url: publicUrl,
    demo: sandbox && { accounts: demoWorld.people.map(({ email }) => email), password: demoPassword, sandbox: sandbox.origin },
  }
}
