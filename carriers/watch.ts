import type { EventIds } from '../platform/events.ts'
import type { Carrier } from './carrier.ts'

/** Something that follows every event, and must know when one may be missing. */
export interface Watcher {
  announced(topic: string, ids: EventIds): void
  /** Events of other processes may have been missed. */
  missed(): void
}

/** What events know of the events of other processes. */
export interface EventsWatch {
  /** Whether all events that other processes sent until a second ago have arrived. */
  isCurrent(): boolean
}

export interface Watching {
  watch(watcher: Watcher): EventsWatch
  announced(topic: string, ids: EventIds): void
  missed(): void
  /** Called when a beat of this process arrives. */
  beat(number: number): void
  stop(): void
}

/** Milliseconds between two beats, and without one after which events may be missing. */
const [beatMs, mostSilenceMs] = [300, 900]

/**
 * Passes all events on. While there is a watcher, this process sends itself a beat by the transport: events of other
 * processes arrive in the order in which they were sent, so a beat that arrives is behind them. A connection that is
 * open and carries nothing is noticed by beats alone.
 * @param send sends a beat to all processes
 */
export function createWatching(carrier: Pick<Carrier, 'trouble'> | null, send: (number: number) => Promise<void>): Watching {
  const watchers: Watcher[] = []
  const sentAt = new Map<number, number>()
  let [beats, confirmedAt] = [0, Number.NEGATIVE_INFINITY]
  let timer: NodeJS.Timeout | undefined
  let over = false

  const beat = () => {
    if (over) return
    const number = ++beats
    sentAt.set(number, performance.now())
    // Those that were never sent.
    if (sentAt.size > 100) sentAt.delete(sentAt.keys().next().value!)
    // While it cannot be sent, the transport says so itself.
    send(number).catch(() => {})
    timer = setTimeout(beat, beatMs).unref()
  }
  const isCurrent = () => carrier === null || (carrier.trouble() === null && performance.now() - confirmedAt < mostSilenceMs)
  return {
    watch(watcher) {
      watchers.push(watcher)
      if (carrier && watchers.length === 1) beat()
      return { isCurrent }
    },
    announced(topic, ids) {
      for (const watcher of watchers) watcher.announced(topic, ids)
    },
    missed() {
      for (const watcher of watchers) watcher.missed()
    },
    beat(number) {
      confirmedAt = Math.max(confirmedAt, sentAt.get(number) ?? confirmedAt)
      for (const each of sentAt.keys()) if (each <= number) sentAt.delete(each)
    },
    stop() {
      over = true
      clearTimeout(timer)
    },
  }
}
