import { NotReady } from '../../platform/errors.ts'
import { systemCodeOf } from '../../start-error.ts'
import { bookkeepingSchema } from '../migrate.ts'

/** The table that is written; no migration makes it, and no backup holds it. */
export const probeTable = `${bookkeepingSchema}.write_probe`

/** One transaction. Emptied and filled, the table needs a new page of the disk each time: a full one cannot hide behind free space within old pages. */
const writeSql = `
  create table if not exists ${probeTable} (filler text not null);
  truncate ${probeTable};
  insert into ${probeTable} values (repeat('.', 4000))`

/** How long an answer stands, in ms: health checks of many askers cost one write. */
const standsMs = 5_000

/**
 * Makes a check that the database takes writes; one that only reads seems well while its disk is full.
 * @param run     runs several statements as one transaction
 * @param elapsed a clock in ms that is never set back @default the process's own
 * @returns rejects with `NotReady` that says why when it is the disk, or a server that only reads
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
