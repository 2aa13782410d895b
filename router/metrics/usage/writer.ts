import type { Logger } from 'pino'
import { lineOf } from '../../../start-error.ts'
import type { Figure } from '../figure.ts'
import type { UsageStore } from './store.ts'
import { type Addition, dayOf, type Sums } from './sums.ts'

/** Maximum coordinates of the sums that one statement adds. */
const mostTogether = 5_000

/** How long a stopping process waits until its last sums are stored, in ms. */
const lastWordsMs = 2_000

export interface WriterOptions {
  readonly store: UsageStore
  readonly sums: Sums
  /** Interval at which sums are stored, in ms. */
  readonly flushMs: number
  /** Number of days for which sums are kept. */
  readonly days: number
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Stores sums at intervals. */
export interface Writer {
  /** Stores what was counted since the last time; without any, no statement is sent. Never rejects. */
  flush(): Promise<void>
  /** Stores what was counted, within 2 s, and ends the interval. */
  stop(): Promise<void>
  readonly figures: readonly Figure[]
}

/**
 * Starts to store sums. What cannot be stored, because the database is away, waits; it is dropped and counted two days
 * later, or when the process ends.
 */
export function startWriter({ store, sums, flushMs, days, log, now }: WriterOptions): Writer {
  let hasBegun = false
  let isAway = false
  let tidied = ''
  let dropped = 0
  let flushing: Promise<void> | null = null
  const began = new Date(now())
  const outcomes = { stored: 0, failed: 0 }

  const begin = async () => {
    if (hasBegun) return
    await store.begin(began)
    hasBegun = true
  }
  const write = async () => {
    sums.turn(now())
    const additions = sums.take()
    if (additions.length === 0) return
    let left = additions
    try {
      await begin()
      for (const part of partsOf(additions)) {
        await store.add(part)
        left = left.slice(part.length)
      }
      await tidy()
      outcomes.stored += 1
      if (isAway) log.info({}, 'use of the schema is stored again')
      isAway = false
    } catch (cause) {
      dropped += sums.putBack(left)
      outcomes.failed += 1
      // Once, not each minute.
      if (!isAway) log.warn({ reason: lineOf(cause) }, 'use of the schema not stored: it waits until the database is back')
      isAway = true
    }
  }
  /** Deletes old days, once a day. */
  const tidy = async () => {
    const today = dayOf(now())
    if (tidied === today) return
    await store.forget(dayOf(now() - days * 86_400_000))
    tidied = today
  }
  const flush = () => {
    flushing ??= write().finally(() => {
      flushing = null
    })
    return flushing
  }

  const interval = setInterval(() => void flush(), flushMs)
  interval.unref()
  // The time from which nothing recorded means not used; where it fails, the first flush repeats it.
  void begin().catch(() => {})
  return {
    flush,
    async stop() {
      clearInterval(interval)
      const late = Promise.withResolvers<void>()
      const timeout = setTimeout(late.resolve, lastWordsMs)
      // What was counted while the last write ran is written after it.
      await Promise.race([Promise.resolve(flushing).then(flush), late.promise])
      clearTimeout(timeout)
      const lost = sums.take().reduce((all, { count }) => all + count, 0)
      if (lost > 0) log.warn({ lost }, 'use of the schema not stored: the process ends')
    },
    figures: [
      {
        name: 'supergraph_usage_writes_total',
        help: 'Times that use of the schema was stored, or could not be, by outcome.',
        labels: ['outcome'],
        read: () => Object.entries(outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      { name: 'supergraph_usage_dropped_total', help: 'Counted uses that were never stored.', read: () => dropped },
      { name: 'supergraph_usage_sums', help: 'Distinct sums of the day in memory, one for each coordinate.', read: () => sums.size },
    ],
  }
}

/** Divides additions into parts of a bounded size. */
function* partsOf(additions: readonly Addition[]): Generator<readonly Addition[]> {
  let part: Addition[] = []
  let size = 0
  for (const addition of additions) {
    if (part.length > 0 && size + addition.sum.coordinates.length > mostTogether) {
      yield part
      part = []
      size = 0
    }
    part.push(addition)
    size += addition.sum.coordinates.length
  }
  if (part.length > 0) yield part
}
