import { NotReady } from '../../platform/errors.ts'
import { systemCodeOf } from '../../start-error.ts'
import { bookkeepingSchema } from '../migrate.ts'

/** The table for the probe; no migration creates it, and no backup contains it. */
export const probeTable = `${bookkeepingSchema}.write_probe`

/**
 * One transaction that empties and fills the table: it needs a new page on the disk each time, so free space in old
 * pages cannot hide a full disk.
 */
const writeSql = `
  create table if not exists ${probeTable} (filler text not null);
  truncate ${probeTable};
  insert into ${probeTable} values (repeat('.', 4000))`

/** Time in ms for which a result is reused, so that many health checks cost one write. */
const standsMs = 5_000

/**
 * Creates a check that the database accepts writes; reading alone would succeed on a full disk.
 * @param run     runs several statements as one transaction
 * @param elapsed monotonic clock in ms @default the process's own
 * @returns a check that rejects with `NotReady` when the disk is full or the server is read-only
 */
export function createWriteProbe(run: (sql: string) => Promise<unknown>, elapsed: () => number = () => performance.now()): () => Promise<void> {
  let written = Number.NEGATIVE_INFINITY
  return async () => {
    if (elapsed() - written < standsMs) return
    try {
      await run(writeSql)
    } catch (error) {
      const reason = reasons[systemCodeOf(error)] ?? reasons[systemCodeOf((error as { parent?: unknown }).parent)]
      throw reason ? new NotReady(reason) : error
    }
    written = elapsed()
  }
}

const reasons: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '25006': 'the database only reads: it is a standby, or set so',
  '42501': 'the database does not let this user write',
}
