import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Events refresh screens: a topic and ids, never data, announced after commit, at most once. This file is the port and
 * its carrier inside one process; those between processes (`carriers/`) keep the same promises.
 */
export type EventIds = Readonly<Record<string, string>>

/** What the row that an event is about stood at: its version. A resync recognizes by it which events were delivered before. */
export type Mark = string | number

export interface Events {
  /**
   * Tells every present listener of the topic, in every process. Never throws, never waits.
   * @param mark only for topics that are looked at again
   */
  announce(topic: string, ids: EventIds, mark?: Mark): void
  /** Starts listening at once (not at the first `next()`), so nothing that is announced after the call is missed. */
  listen(topics: readonly string[]): EventStream
  /**
   * Says how topics that begin so are looked at again: whenever the carrier was away, and within every minute. What the look finds is
   * announced to this process's listeners, if it was not told before. Without it a lost event of such topics stays lost.
   */
  resync(prefix: string, look: Resync): void
  /** How many listeners a topic has, or all together: what tests assert to be zero after an unsubscribe. */
  listenerCount(topic?: string): number
}

/**
 * Finds what was announced on a topic since a moment, a few hundred events at most, out of the rows themselves.
 * @param rest the topic without its prefix
 * @param away whether the carrier was away since then; otherwise it is the minute's round
 * @returns each event with its mark; one without a mark is always delivered
 */
export type Resync = (rest: string, since: Date, away: boolean) => Promise<readonly { readonly ids: EventIds; readonly mark?: Mark | undefined }[]>

const unheard = new AsyncLocalStorage<number>()

/**
 * Begins to listen in place of somebody whose stream broke: what was announced since then is looked up where topics are looked at again, and
 * told. The same event may be told twice.
 * @param since when the former stream was last known to be heard, as `performance.now()` of this process
 */
export const goOnFrom = <Result>(since: number, work: () => Result): Result => unheard.run(since, work)

/** For how many ms whoever begins to listen at this moment has heard nothing; undefined for who listens for the first time. */
export function unheardMs(): number | undefined {
  const since = unheard.getStore()
  return since === undefined ? undefined : Math.max(0, performance.now() - since)
}

/**
 * Events as they come. `return()` settles a pending `next()` at once and removes the listener: an async generator
 * would keep it until the next event.
 */
export interface EventStream extends AsyncIterableIterator<EventIds> {
  return(): Promise<IteratorResult<EventIds>>
}

/** How many undelivered events a listener may pile up; equal ones count once, and past it the oldest go. */
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
 * Makes of each event what a subscription yields; events for which `map` gives undefined are passed over.
 * Written by hand for the reason above: `return()` ends the source at once.
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
