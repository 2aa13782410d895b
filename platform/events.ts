import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Events refresh screens: a topic and ids, never data, sent after the commit, at most once. This file holds the
 * interface and its implementation inside one process; event transports between processes (`carriers/`) keep the same
 * promises.
 */
export type EventIds = Readonly<Record<string, string>>

/** Version of an event's row. A resync recognizes by it which events were delivered before. */
export type Mark = string | number

export interface Events {
  /**
   * Sends an event to every present listener of the topic, in every process. Never throws, never waits.
   * @param mark only for topics with a resync
   */
  announce(topic: string, ids: EventIds, mark?: Mark): void
  /** Starts listening at once (not at the first `next()`), so nothing that is announced after the call is missed. */
  listen(topics: readonly string[]): EventStream
  /**
   * Registers the resync of topics with a prefix: it runs whenever the event transport was unavailable, and every
   * minute. Missed events that it finds are sent to this process's listeners. Without it a lost event stays lost.
   */
  resync(prefix: string, look: Resync): void
  /** Number of listeners of a topic, or of all: tests assert zero after an unsubscribe. */
  listenerCount(topic?: string): number
}

/**
 * Finds the events of a topic since a moment, a few hundred at most, from the rows themselves.
 * @param rest the topic without its prefix
 * @param away whether the event transport was unavailable since then; otherwise it is the regular run
 * @returns each event with its mark; one without a mark is always delivered
 */
export type Resync = (rest: string, since: Date, away: boolean) => Promise<readonly { readonly ids: EventIds; readonly mark?: Mark | undefined }[]>

const unheard = new AsyncLocalStorage<number>()

/**
 * Starts listeners that replace those of a broken stream: events sent since the break are looked up, for topics with a
 * resync, and delivered. An event may be delivered twice.
 * @param since when the former stream was last known to work, as `performance.now()` of this process
 */
export const goOnFrom = <Result>(since: number, work: () => Result): Result => unheard.run(since, work)

/** Returns for how many ms a listener that starts now has missed events; undefined for a new one. */
export function unheardMs(): number | undefined {
  const since = unheard.getStore()
  return since === undefined ? undefined : Math.max(0, performance.now() - since)
}

/**
 * Stream of events as they arrive. `return()` settles a pending `next()` at once and removes the listener: an async
 * generator would keep it until the next event.
 */
export interface EventStream extends AsyncIterableIterator<EventIds> {
  return(): Promise<IteratorResult<EventIds>>
}

/** Maximum number of undelivered events of a listener; equal ones count once, and above it the oldest are dropped. */
const mostWaiting = 1000

export function createMemoryEvents(): Events {
  const listeners = new Map<string, Set<(ids: EventIds) => void>>()
  return {
    announce(topic, ids) {
      for (const tell of listeners.get(topic) ?? []) tell(ids)
    },
    listen(topics) {
      const waiting = new Map<string, EventIds>()
      let pending: ((result: IteratorResult<EventIds>) => void)[] = []
      let over = false
      const tell = (ids: EventIds) => {
        const taker = pending.shift()
        if (taker) return taker({ value: ids, done: false })
        waiting.set(JSON.stringify(ids), ids)
        if (waiting.size > mostWaiting) waiting.delete(waiting.keys().next().value!)
      }
      for (const topic of topics) {
        const set = listeners.get(topic) ?? new Set()
        set.add(tell)
        listeners.set(topic, set)
      }
      const end = () => {
        over = true
        for (const topic of topics) {
          const set = listeners.get(topic)
          set?.delete(tell)
          if (set?.size === 0) listeners.delete(topic)
        }
        waiting.clear()
        for (const taker of pending) taker({ value: undefined, done: true })
        pending = []
      }
      return {
        next() {
          if (over) return Promise.resolve({ value: undefined, done: true })
          const first = waiting.entries().next()
          if (!first.done) {
            waiting.delete(first.value[0])
            return Promise.resolve({ value: first.value[1], done: false })
          }
          return new Promise(resolve => pending.push(resolve))
        },
        return() {
          end()
          return Promise.resolve({ value: undefined, done: true })
        },
        throw(error: unknown) {
          end()
          return Promise.reject(error)
        },
        [Symbol.asyncIterator]() {
          return this
        },
        async [Symbol.asyncDispose]() {
          end()
        },
      }
    },
    resync() {
      // Events within one process are never lost, so there is nothing to resync.
    },
    listenerCount(topic) {
      if (topic !== undefined) return listeners.get(topic)?.size ?? 0
      let count = 0
      for (const set of listeners.values()) count += set.size
      return count
    },
  }
}

/**
 * Maps events to the values of a subscription; events for which `map` returns undefined are skipped. It is no async
 * generator, so that `return()` ends the source at once.
 */
export function mapEvents<Value>(source: EventStream, map: (ids: EventIds) => Value | undefined): AsyncIterableIterator<Value> {
  const next = async (): Promise<IteratorResult<Value>> => {
    for (;;) {
      const { value, done } = await source.next()
      if (done) return { value: undefined, done: true }
      const mapped = map(value)
      if (mapped !== undefined) return { value: mapped, done: false }
    }
  }
  const end = async (): Promise<IteratorResult<Value>> => {
    await source.return()
    return { value: undefined, done: true }
  }
  return {
    next,
    return: end,
    throw: async error => {
      await source.return()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
