import type { Logger } from 'pino'
import { NotReady } from '../../platform/errors.ts'
import { StartError } from '../../start-error.ts'

/** Whether the database still stands where this program's migrations do: a newer program may have moved it on meanwhile. */
export interface SchemaWatch {
  /** Whether it did when last looked at: whether jobs and sweeps may run. */
  isOurs(): boolean
  /** Looks now; rejects with `NotReady` that says what is missing or foreign. */
  check(): Promise<void>
}

/**
 * Looks at the books of the migrations when asked to; at first they were found right.
 * @param look rejects with `StartError` when they do not agree with this program; other errors say nothing of them
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
