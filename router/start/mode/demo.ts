import type { Config } from '../../../config.ts'
import { checkConnection } from '../../../db/connect.ts'
import { StartError } from '../../../start-error.ts'
import { openHome } from '../home.ts'
import { openKeys, openTrialTokens } from '../keys.ts'
import { untilAborted } from '../process/abort.ts'
import type { Running, Startup } from '../startup.ts'
import { begin } from '../wire.ts'

/**
 * Migrates the database and creates the demo data for distributed mode, then ends. Its result goes to the parent
 * process.
 */
export const startDemo = (config: Config, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { openDemo } = await import('../demo.ts')
    if (!config.databaseUrl) throw new StartError('DATABASE_URL: missing, and demo data are for a database that is there')
    await untilAborted(checkConnection(config.databaseUrl), process.signal)
    const trial = await openDemo(process, config.seal.appTokens ?? new Map(), openTrialTokens(config))
    // No background work runs here: no jobs are taken, and no subgraph is started.
    const never = new Promise<void>(() => {})
    const applications = { ...trial.applications, ...config.applications }
    const parts = {
      databaseUrl: config.databaseUrl,
      keys: openKeys(config),
      applications,
      sandbox: trial.sandbox,
      mailServer: trial.mailServer,
      mailing: trial.mailing,
      eventsOfProcessor: trial.eventsOfProcessor,
      eventsOfBilling: trial.eventsOfBilling,
      settlement: trial.settlement,
      notificationService: trial.notificationService,
    }
    const home = await openHome(process, parts, never)
    await trial.provide(home)
    await trial.trade(process.signal, false)
    const { accounts, password, sandbox, takesMails } = trial
    globalThis.process.send?.({ notices: [...trial.notices, ...home.notices], demo: { accounts, password, sandbox, takesMails } })
    return { url: sandbox, banner: [], facts: {} }
  })
