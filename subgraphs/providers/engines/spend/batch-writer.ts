import { isOfEntry } from './later.ts'

/** Runs work in batches: entries that arrive during a batch wait and form the next one. */
interface Lane<Entry, Outcome> {
  readonly waiting: { readonly entry: Entry; resolve(outcome: Outcome): void; reject(cause: unknown): void }[]
}

/** Maximum entries of one transaction, and maximum concurrent transactions of a process. */
const mostTogether = 100
const mostLanes = 4

/**
 * Writes entries of one lane in order, many in one transaction: a contended row is locked once for each transaction,
 * not for each entry.
 * @param work writes all entries or none, and returns the result of each
 */
export function createBatchWriter<Entry, Outcome>(work: (entries: readonly Entry[]) => Promise<readonly Outcome[]>) {
  const lanes = new Map<string, Lane<Entry, Outcome>>()
  const ready: string[] = []
  let running = 0

  function goOn(): void {
    while (running < mostLanes && ready.length > 0) {
      running += 1
      void serve(ready.shift()!)
    }
  }

  async function serve(name: string): Promise<void> {
    const { waiting } = lanes.get(name)!
    const batch = waiting.splice(0, mostTogether)
    try {
      const outcomes = await work(batch.map(({ entry }) => entry))
      for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at]!)
    } catch (cause) {
      if (batch.length === 1 || !isOfEntry(cause)) for (const { reject } of batch) reject(cause)
      // One entry that cannot be written must not fail the others.
      else for (const { entry, resolve, reject } of batch) await work([entry]).then(([outcome]) => resolve(outcome!), reject)
    }
    running -= 1
    if (waiting.length > 0) ready.push(name)
    else lanes.delete(name)
    goOn()
  }

  return {
    /** Whether work is in progress in a lane. */
    isBusy: (name: string): boolean => lanes.has(name),

    /** Writes an entry together with others that wait in its lane. */
    do(name: string, entry: Entry): Promise<Outcome> {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
      let lane = lanes.get(name)
      if (!lane) {
        lane = { waiting: [] }
        lanes.set(name, lane)
        ready.push(name)
      }
      lane.waiting.push({ entry, resolve, reject })
      // Entries of the same turn are written together.
      setImmediate(goOn)
      return promise
    },
  }
}
