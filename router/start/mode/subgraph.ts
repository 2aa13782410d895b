import { missingBindings, missingMailServer } from '../../../config/production.ts'
import type { Config } from '../../../config.ts'
import { checkConnection } from '../../../db/connect.ts'
import { systemClock } from '../../../platform/clock.ts'
import { StartError } from '../../../start-error.ts'
import { createSealReader } from '../../../subgraphs/seal.ts'
import { createRemoteAsk, rememberSeals } from '../../apart/ask.ts'
import { answerAuthority, authorityPath } from '../../apart/authority.ts'
import { createRemoteCall } from '../../apart/call.ts'
import { createFactDoor, createRemoteCarrier } from '../../apart/facts.ts'
import { watchSealTimes } from '../../apart/seal-times.ts'
import { type SubgraphServer, serveSubgraph } from '../../apart/server.ts'
import { answerServiceClients, serviceClientsPath } from '../../apart/service-clients.ts'
import { createDraining } from '../../door/streaming/draining.ts'
import { bytesInFlight } from '../engine.ts'
import { untilAborted } from '../process/abort.ts'
import { missingNetworks } from '../process/notices.ts'
import { deliverSetupLink } from '../process/setup-link.ts'
import type { Running, Startup } from '../startup.ts'
import { begin, stopWithin, wire } from '../wire.ts'
import { requireSlug, requireSubgraphConfig, subgraphUrls } from './apart.ts'

/**
 * Starts one subgraph in a separate process, on the common database; only the router may call it.
 * @param word slug of the subgraph
 * @throws StartError when the subgraph does not exist, settings are missing, or its port is taken
 */
export const startSubgraph = (config: Config, word: string, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { log, metrics, tracing, signal, reporter } = process
    const { host, port, publicUrl } = config
    const slug = requireSlug(word)
    const { databaseUrl, publicKeys, authSecret, encryptionKeys } = requireSubgraphConfig(config, [
      ...(slug === 'payments' ? missingBindings(config) : []),
      ...(slug === 'identity' ? missingMailServer({ ...config, demo: config.demo && config.sandbox.folder !== null }) : []),
    ])
    await untilAborted(checkConnection(databaseUrl), signal)
    // Where the demo was made, its third parties are played for this process too.
    const played = config.demo && config.sandbox.folder ? await (await import('../sandbox.ts')).openSandbox(config) : null
    const applications = { ...played?.applications, ...config.applications }
    const times = watchSealTimes(log)
    const seals = rememberSeals(createSealReader({ audience: slug, keys: publicKeys, clock: systemClock, noteTime: times.note }))
    const carrier = createRemoteCarrier({ urls: subgraphUrls(config), secret: authSecret, clock: systemClock })
    process.stack.defer(() => carrier.close())
    const own = config.seal.appTokens?.get(`app_${slug}`)?.[0] ?? null
    const tokenFor = (other: string) => config.callers.dedicated.find(({ appId, at }) => appId === `app_${slug}` && at === other)?.token ?? own
    const calling = slug !== 'providers' && tokenFor('providers') ? createRemoteCall(config.routerUrls, tokenFor) : null
    if (calling) process.stack.defer(() => calling.close())
    let server: SubgraphServer | undefined
    const draining = createDraining(config.streams.drainMs)
    await wire(process, {
      home: {
        databaseUrl,
        keys: { authSecret, encryptionKeys },
        applications,
        whereabouts: played?.whereabouts,
        sandbox: played?.origin,
        mailServer: played?.mailServer,
        mailing: played?.mailing,
        eventsOfProcessor: played?.processor.webhookSecret,
        eventsOfBilling: played?.processor.billingSecret,
        settlement: played?.settlement,
        notificationService: played?.notificationService,
        apart: { slug, ask: createRemoteAsk(config.routerUrls, seals, own), call: calling?.call ?? null, carrier },
      },
      async prepare({ defined: { identity }, notices }) {
        for (const notice of [...notices, ...(slug === 'publishing' ? missingNetworks({ applications }) : [])]) reporter.warn(notice)
        return identity && !played ? deliverSetupLink(identity, { dataDir: config.dataDir, publicUrl, reporter }) : undefined
      },
      door: ({ defined, subgraphs, readiness }) => ({
        async listen() {
          // Answers the router's credential checks: identity those of people, the gateway those of services.
          const { identity, providers } = defined
          const internal = new Map([
            ...(identity ? [[authorityPath, answerAuthority(identity.authority)] as const] : []),
            ...(providers ? [[serviceClientsPath, answerServiceClients(providers)] as const] : []),
          ])
          const checks = [...readiness, { name: 'seals', check: times.check }]
          const exposeErrors = config.environment === 'development'
          const subgraph = subgraphs[0]!
          const facts = subgraph.receive && createFactDoor({ slug, receive: subgraph.receive, secret: authSecret, clock: systemClock })
          server = await serveSubgraph({
            drainMs: config.remote.drainMs,
            draining,
            subgraph,
            facts,
            tracing,
            inFlight: bytesInFlight(metrics, config.remote),
            metrics: { registry: metrics, token: config.metricsToken },
            seals,
            host,
            port,
            publicUrl,
            exposeErrors,
            internal,
            readiness: checks,
            log,
          }).catch(error => {
            if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
            throw new StartError(
              `port ${port} is taken: stop what listens there, or set PORT to another one and ${slug.toUpperCase()}_URL at the router`,
              error,
            )
          })
        },
        close: async () => server?.close(),
      }),
    })
    return {
      url: `http://localhost:${server!.port}/graphql`,
      banner: [`subgraph ${slug}`],
      facts: { subgraph: slug },
      stopWithinMs: stopWithin(draining, config.remote.drainMs),
    }
  })
