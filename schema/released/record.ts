import { readConfig } from '../../config.ts'
import { openPlatformDatabase } from '../../db/embedded.ts'
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
  const sequelize = await openPlatformDatabase(readConfig(undefined, { secrets: false }), stack)
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
