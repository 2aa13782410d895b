import type { Config } from '../../../config.ts'
import { startPostgres } from '../../../db/embedded.ts'
import { lockFolder } from '../../../db/lock.ts'
import { createDraining } from '../../door/streaming/draining.ts'
import { openAppTokens, openKeys, openTrialTokens, serviceTokens } from '../keys.ts'
import { untilAborted } from '../process/abort.ts'
import { noticesOf } from '../process/notices.ts'
import { deliverSetupLink } from '../process/setup-link.ts'
import { pagesOf, version, welcome } from '../process/welcome.ts'
import type { Process, Running, Startup } from '../startup.ts'
import { begin, stopWithin, wire } from '../wire.ts'

/**
 * Starts the embedded mode: PostgreSQL, migrations, demo data, sandbox, every subgraph and the router in this one
 * process. When a step fails, everything started before is stopped. An abort takes effect between two steps in the same
 * way.
 */
export const startEmbedded = (config: Config, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { stack, signal, reporter } = process
    // The rest of the program loads while PostgreSQL starts: the two take most of the start-up time.
    const rest = Promise.all([import('../home.ts'), import('../doors.ts'), import('../registry.ts').then(({ loadDefinitions }) => loadDefinitions())])
    rest.catch(() => {})
    const lock = await lockFolder(config.dataDir)
    stack.defer(() => lock.release())
    const keys = openKeys(config)
    const trialTokens = openTrialTokens(config)
    const tokens = serviceTokens(config, openAppTokens(config), trialTokens)
    const database = await openDatabase(process)
    signal.throwIfAborted()
    const listening = Promise.withResolvers<void>()
    const trial = config.demo ? await (await import('../demo.ts')).openDemo(process, tokens.own, trialTokens, listening.promise) : null
    const notices = [...noticesOf(config)]
    const draining = createDraining(config.streams.drainMs)
    await wire(process, {
      home: {
        databaseUrl: database.url,
        keys,
        applications: { ...trial?.applications, ...config.applications },
        whereabouts: trial?.whereabouts,
        sandbox: trial?.sandbox,
        mailServer: trial?.mailServer,
        mailing: trial?.mailing,
        eventsOfProcessor: trial?.eventsOfProcessor,
        eventsOfBilling: trial?.eventsOfBilling,
        settlement: trial?.settlement,
        notificationService: trial?.notificationService,
      },
      async prepare(made) {
        if (trial) await trial.provide(made)
        notices.push(...(trial?.notices ?? []), ...made.notices)
        if (!trial) return deliverSetupLink(made.defined.identity!, { dataDir: config.dataDir, publicUrl: config.publicUrl, reporter })
        // The processor's events reach this process only now, and nobody waits for the demo's payments.
        const ending = new AbortController()
        let trading = Promise.resolve()
        stack.defer(() => {
          ending.abort()
          return trading
        })
        return () => {
          listening.resolve()
          trading = trial.trade(ending.signal, true)
        }
      },
      // All subgraphs run in this process, so the engine calls them directly.
      door: ({ defined, engine, subgraphs, readiness, usageStore }) => ({
        engine: engine!,
        usageStore,
        draining,
        authority: defined.identity!.authority,
        callers: { tokens, registrations: subgraphs.map(({ registration }) => registration), gateway: defined.providers! },
        subgraphs,
        readiness,
        sandbox: trial?.sandbox ?? null,
        // In development the person who sees the page also sees the terminal.
        demo: trial && config.environment === 'development' ? trial : null,
      }),
    })
    const seen = config.environment === 'development'
    for (const notice of seen ? [] : notices) reporter.warn(notice)
    return {
      url: config.publicUrl,
      banner: welcome({ url: config.publicUrl, pages: pagesOf(config), demo: trial, notices, database: database.description }),
      facts: { version: version(), database: database.description, demo: trial !== null, ...(trial && { sandbox: trial.sandbox }) },
      stopWithinMs: stopWithin(draining),
    }
  })

async function openDatabase({ config, log, stack, signal, onAbandon }: Process): Promise<{ url: string; description: string }> {
  if (config.databaseUrl) {
    const { checkConnection } = await import('../../../db/connect.ts')
    const version = await untilAborted(checkConnection(config.databaseUrl), signal)
    return { url: config.databaseUrl, description: `PostgreSQL ${version} at DATABASE_URL` }
  }
  const postgres = await startPostgres({ folder: config.dataDir, log, signal })
  onAbandon(postgres.killNow)
  stack.defer(() => postgres.stop())
  const recovery = {
    fresh: 'made now',
    warm: 'as it was left',
    adopted: 'still running after its platform was killed: taken over',
    'after a crash': 'was killed: recovered',
  }
  return { url: postgres.url, description: `embedded PostgreSQL in ${config.dataDir}, ${recovery[postgres.recovered]}` }
}
