import type { Logger } from 'pino'
import { NotReady } from '../../platform/errors.ts'
import { StartError } from '../../start-error.ts'

/** Checks that the database still has this program's migrations: a newer program may have migrated it further. */
export interface SchemaWatch {
  /** Whether it had them at the last check, and so whether jobs and sweeps may run. */
  isOurs(): boolean
  /** Checks now; rejects with `NotReady`, which names missing or foreign migrations. */
  check(): Promise<void>
}

/**
 * Creates the check of the recorded migrations, which were correct at the start.
 * @param look rejects with `StartError` when they differ from this program's; other errors say nothing about them
 */
export function watchSchema(look: () => Promise<void>, log: Logger): SchemaWatch {
  let ours = true
  return {
    isOurs: () => ours,
    async check() {
      try {
        await look()
        if (!ours) log.warn('the database schema has the expected version again: jobs and sweeps resume')
        ours = true
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        if (ours) log.error({ reason: error.message }, 'the database schema was migrated beyond this program: jobs and sweeps are paused')
        ours = false
        throw new NotReady(error.message)
      }
    },
  }
}
