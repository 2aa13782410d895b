import { Agent } from 'undici'
import type { Config } from '../../../config.ts'
import { hashOfSecret } from '../../../platform/cipher.ts'
import { systemClock } from '../../../platform/clock.ts'
import { accessTokenAudience } from '../../../subgraphs/identity/session/rules.ts'
import { demoAccounts } from '../../../subgraphs/identity/setup/demo.ts'
import { serveAsk } from '../../apart/ask.ts'
import { createRemoteAuthority } from '../../apart/authority.ts'
import { createRemoteTarget } from '../../apart/http.ts'
import { createRemoteServiceClients } from '../../apart/service-clients.ts'
import { createDocuments } from '../../door/documents/documents.ts'
import { createDraining } from '../../door/streaming/draining.ts'
import type { Origin } from '../../engine/transport/exchange.ts'
import { openOrigins } from '../../engine/transport/replicas.ts'
import { createSeal, publicHalf } from '../../engine/transport/seal.ts'
import type { UsageStore } from '../../metrics/usage/store.ts'
import { openRemoteEngine, remoteAt } from '../doors.ts'
import { ownSupergraph } from '../engine.ts'
import { serviceTokens } from '../keys.ts'
import { openRouterEvents } from '../process/cache/events.ts'
import { openResponseCache } from '../process/cache/response-cache.ts'
import { type ListedSlug, readRegistrations } from '../registry.ts'
import type { Process, Running, Startup } from '../startup.ts'
import { begin, stopWithin, wire } from '../wire.ts'
import { originsOf, requireSealKey, subgraphUrls } from './apart.ts'

/**
 * Starts the platform's router for distributed subgraphs: all protocols, access and REST as in embedded mode. Where
 * `DATABASE_URL` names the database, use of the schema is recorded there; nothing else needs it. Any number of routers may run side by side.
 * @throws StartError when it has no key to seal with, or its port is taken
 */
export const startRouter = (config: Config, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { stack } = process
    const { publicUrl } = config
    const key = requireSealKey(config)
    const registrations = await readRegistrations()
    // Only with the demo in development, as in the embedded mode: any visitor of the page may sign in with it.
    const tried =
      config.demo && config.sandbox.folder && config.environment === 'development'
        ? (await import('../sandbox.ts')).findSandbox(config.sandbox.folder, false)
        : null
    const urls = subgraphUrls(config)
    const seal = createSeal(key, systemClock)
    const subgraphs = new Map([...urls].map(([slug, replicas]) => [slug, remoteAt(config, slug, replicas)]))
    if (config.responseCache.store !== 'off') openResponseCache(config.responseCache, process, await openRouterEvents(process))
    const engine = await openRemoteEngine(process, ownSupergraph(), subgraphs, { seal })
    const [questions, clients] = (['identity', 'providers'] as const).map(slug => {
      const origin = openOrigins(originsOf(urls.get(slug)!), { connections: 16, mostWaiting: 1000, mostBytes: 4 * 1024 * 1024, elsewhereMs: 1000 })
      stack.defer(() => origin.close())
      return origin
    }) as [Origin, Origin]
    const authority = createRemoteAuthority({ origin: questions, seal, issuer: publicUrl, audience: accessTokenAudience, hashKey: hashOfSecret })
    const streams = new Agent({ connections: 64 })
    stack.defer(() => streams.destroy())
    const draining = createDraining(config.streams.drainMs)
    const usageStore = await openUsageStore(process)
    await wire(process, {
      door: () => ({
        engine,
        usageStore,
        authority,
        severalRouters: true,
        callers: { tokens: serviceTokens(config, config.seal.appTokens), registrations, gateway: createRemoteServiceClients({ origin: clients, seal }) },
        draining,
        drainMs: config.remote.drainMs,
        demo: tried && demoAccounts,
        sandbox: tried?.origin ?? null,
        subgraphs: [...urls].map(([slug, replicas]) => createRemoteTarget(slug, replicas, seal, streams)),
        readiness: [{ name: 'identity', check: authority.ready }],
        services: registrations.map(({ slug, title }) => ({ slug, title, ready: () => oneAnswers(urls.get(slug as ListedSlug)!) })),
        extend(app) {
          // The router's own operations never use introspection: the documents of subgraphs are known beforehand.
          const documents = createDocuments(engine.schema, { introspection: false })
          serveAsk(app, {
            engine,
            authority,
            documents,
            registrations,
            keys: [publicHalf(key)],
            clock: systemClock,
            tokens: config.seal.appTokens ?? undefined,
          })
        },
      }),
    })
    const banner = [`router before ${[...urls].map(([slug, replicas]) => `${slug} (${replicas.join(', ')})`).join(', ')}`]
    return { url: publicUrl, banner, facts: { subgraphs: Object.fromEntries(urls) }, stopWithinMs: stopWithin(draining, config.remote.drainMs) }
  })

/** Opens the store of use on the platform's database; undefined without an address, or where nothing is to be recorded. */
async function openUsageStore({ config, log, stack }: Process): Promise<UsageStore | undefined> {
  const { databaseUrl: url, usage } = config
  if (!url || usage.recording === 'off') return undefined
  const [{ connect }, { createUsageStore }] = await Promise.all([import('../../../db/connect.ts'), import('../../metrics/usage/store.ts')])
  const { sequelize, close } = connect({ url, poolSize: 1, log })
  stack.defer(close)
  return createUsageStore(sequelize)
}

/** Resolves when one of several replicas reports that it is ready. */
async function oneAnswers(urls: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(1000)
  await Promise.any(
    urls.map(async url => {
      const answer = await fetch(new URL('/health/ready', url), { signal })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
    }),
  )
}
