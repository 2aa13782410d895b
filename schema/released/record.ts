import { pino } from 'pino'
import { readConfig } from '../../config.ts'
import { checkConnection, connect } from '../../db/connect.ts'
import { runningDatabase } from '../../db/embedded.ts'
import { createUsageStore, type UsageStore } from '../../router/metrics/usage/store.ts'
import { dayOf } from '../../router/metrics/usage/sums.ts'
import { StartError, systemCodeOf } from '../../start-error.ts'

/** The recorded use of a period. */
export interface UsageRecord {
  /** The first moment whose use is known: that of the period, or the beginning of the record where that is later. */
  readonly since: Date
  readonly until: Date
  /** First UTC day of the period. */
  readonly firstDay: string
  readonly store: UsageStore
}

/**
 * Opens the record of use in the database of `DATABASE_URL`, or of the platform that runs in the data folder.
 * @param days of the period that ends now
 * @throws StartError in one line when there is no database, or no record in it
 */
export async function openRecord(days: number, stack: AsyncDisposableStack): Promise<UsageRecord> {
  const { databaseUrl, dataDir } = readConfig(undefined, { secrets: false })
  const url = databaseUrl ?? runningDatabase(dataDir)
  if (!url) throw new StartError(`no platform runs in ${dataDir}: start it, or name its database with DATABASE_URL`)
  await checkConnection(url)
  const { sequelize, close } = connect({ url, poolSize: 1, log: pino({ level: 'silent' }) })
  stack.defer(close)
  const store = createUsageStore(sequelize)
  const until = new Date()
  const since = new Date(until.getTime() - days * 86_400_000)
  const began = await beginning(store)
  // Without a record nothing is known of the past.
  const known = began ?? until
  return { since: known > since ? known : since, until, firstDay: dayOf(since.getTime()), store }
}

async function beginning(store: UsageStore): Promise<Date | null> {
  try {
    return await store.began()
  } catch (error) {
    if (!['42P01', '3F000'].includes(systemCodeOf((error as { parent?: unknown }).parent ?? error))) throw error
    throw new StartError('this database has no record of use: start the platform in this version, which makes it', error)
  }
}
