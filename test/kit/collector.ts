import type { ExecutionResult } from 'graphql'
import type { ResultStream } from '../../router/engine/engine.ts'

// biome-ignore lint/suspicious/noExplicitAny: an event has the shape of its document, which each test writes out
type Data = Record<string, any>

/** What a subscription sent, as it comes. */
export interface Collector extends AsyncDisposable {
  /** Every event so far. */
  readonly events: readonly ExecutionResult[]
  /** The data of the next event that nobody took yet and that fits; throws what came instead when none comes in time. */
  next(fits?: (data: Data) => boolean): Promise<Data>
  /** Unsubscribes; resolves at once. */
  end(): Promise<void>
}

const timeoutMs = 5_000

/** Reads a stream to its end in the background, so that what has come can be looked at and what comes awaited. */
export function collect(stream: ResultStream): Collector {
  const events: ExecutionResult[] = []
  let taken = 0
  let arrival = Promise.withResolvers<void>()
  let over = false
  void (async () => {
    for await (const event of stream) {
      events.push(event)
      arrival.resolve()
      arrival = Promise.withResolvers()
    }
    over = true
    arrival.resolve()
  })()
  const end = async () => {
    await stream.return()
  }
  return {
    events,
    async next(fits = () => true) {
      const late = Promise.withResolvers<'late'>()
      const timer = setTimeout(() => late.resolve('late'), timeoutMs)
      try {
        for (;;) {
          for (; taken < events.length; taken += 1) {
            const { data } = events[taken]!
            if (data && fits(data)) {
              taken += 1
              return data
            }
          }
          if (over || (await Promise.race([arrival.promise, late.promise])) === 'late')
            throw new Error(`no such event ${over ? 'until the stream ended' : `within ${timeoutMs} ms`}; there were ${JSON.stringify(events, null, 2)}`)
        }
      } finally {
        clearTimeout(timer)
      }
    },
    end,
    [Symbol.asyncDispose]: end,
  }
}
