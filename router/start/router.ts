import { readFileSync } from 'node:fs'
import { Agent } from 'undici'
import type { Config } from '../../config.ts'
import { systemClock } from '../../platform/clock.ts'
import { hashKey } from '../../subgraphs/identity/api-key/rules.ts'
import { accessTokenAudience } from '../../subgraphs/identity/session/rules.ts'
import { createAccessFilter } from '../access/filter.ts'
import { serveAsk } from '../apart/ask.ts'
import { createRemoteAuthority } from '../apart/authority.ts'
import { createRemoteTarget } from '../apart/http.ts'
import { createDocuments } from '../door/documents.ts'
import { createLog } from '../door/log.ts'
import { readSupergraph } from '../engine/supergraph.ts'
import { openOrigin } from '../engine/transport/exchange.ts'
import { createRemoteTransport } from '../engine/transport/remote.ts'
import { createSeal, publicHalf } from '../engine/transport/seal.ts'
import { hostsOf } from '../hosts.ts'
import { createRouter } from '../router.ts'
import { requireSealKey, subgraphUrls } from './apart.ts'
import { openEngine } from './engine.ts'
import { listenAt } from './listen.ts'
import { readRegistrations } from './registry.ts'
import type { Running, Startup } from './run.ts'

/**
 * The platform's router before subgraphs that run apart: every door, access and rest of the embedded mode, without a database. Any
 * number of them may run beside each other.
 * @throws StartError when it has no key to seal with, or its port is taken
 */
export async function startRouter(config: Config, { tell }: Pick<Startup, 'tell'>): Promise<Running> {
  const began = performance.now()
  const { publicUrl, environment } = config
  const key = requireSealKey(config)
  const log = createLog(config.logLevel)
  await using starting = new AsyncDisposableStack()
  const registrations = await readRegistrations()
  const urls = subgraphUrls(config)
  const seal = createSeal(key, systemClock)

  const supergraph = readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  const subgraphs = new Map([...urls].map(([slug, url]) => [slug, { url, timeoutMs: config.subgraphTimeoutMs(slug) ?? undefined }]))
  const { propagate, deduplicate, fetchMs } = config.remote
  const transport = createRemoteTransport({ subgraphs, seal, headers: propagate.map(name => ({ name })), deduplicate, timeoutMs: fetchMs })
  starting.defer(() => transport.close())
  const access = createAccessFilter(supergraph.access)
  const engine = await openEngine(config.engine, {
    supergraphSdl: supergraph,
    transport,
    access,
    log,
    operationTimeoutMs: config.remote.operationMs,
    answerBytes: config.remote.answerBytes,
    exposeInternalErrors: environment === 'development',
  })

  const questions = openOrigin(new URL(urls.get('identity')!).origin, { connections: 16, mostWaiting: 1000, mostBytes: 4 * 1024 * 1024 })
  starting.defer(() => questions.close())
  const authority = createRemoteAuthority({ origin: questions, seal, issuer: publicUrl, audience: accessTokenAudience, hashKey })
  const streams = new Agent({ connections: 64 })
  starting.defer(() => streams.destroy())

  const door = await createRouter({
    engine,
    authority,
    subgraphs: [...urls].map(([slug, url]) => createRemoteTarget(slug, url, seal, streams)),
    host: config.host,
    port: config.port,
    publicUrl,
    environment,
    trustProxy: config.trustProxy,
    clock: systemClock,
    log,
    hosts: hostsOf(config),
    readiness: [{ name: 'identity', check: authority.ready }],
    extend(app) {
      // What the router's own operations ask is never introspection: the documents of subgraphs are known beforehand.
      const documents = createDocuments(engine.schema, { introspection: false })
      serveAsk(app, { engine, documents, registrations, keys: [publicHalf(key)], clock: systemClock })
    },
  })
  starting.defer(() => door.close())
  await listenAt(door, config)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const banner = [`router before ${[...urls].map(([slug, url]) => `${slug} (${url})`).join(', ')}`]
  tell.ready({ seconds, url: publicUrl, banner, facts: { subgraphs: Object.fromEntries(urls) } })
  const stack = starting.move()
  return { stop: () => stack.disposeAsync() }
}
