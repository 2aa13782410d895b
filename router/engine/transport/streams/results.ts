import type { ExecutionResult } from 'graphql'
import type { ResultStream } from '../../engine.ts'
import { errorFor } from '../../errors.ts'

/**
 * Maximum number and bytes of events that wait to be read; beyond it the stream ends with an error, because a gap would
 * go unnoticed.
 */
const most = { waiting: 1000, bytes: 32 * 1024 * 1024 } as const

/** Maximum bytes of one event. */
export const messageBytes = 16 * 1024 * 1024

/** How a stream ends: as streams do, because it broke and events may be missing, or for good. */
export type Ending = 'ended' | 'lost' | 'over'

/** The results of a subscription at a subgraph, from the one who receives them. */
export interface Results {
  readonly stream: ResultStream
  /** Adds a result. @param bytes of its message, which it counts for until it is read */
  add(result: ExecutionResult, bytes: number): void
  /** Ends the stream; a second time it does nothing. @param last final result @param how it ended @default ended */
  end(last?: ExecutionResult, how?: Ending): void
  /** Drops results that nobody will read. */
  drop(): void
  isEnded(): boolean
}

/** @param ended called once, however the stream ends: by its source, its reader, or too many waiting results */
export function createResults(ended: () => void): Results {
  /** Bytes of the result that is being added. */
  let weight = 0
  let ending: Ending | null = null
  let queue!: ReadableStreamDefaultController<ExecutionResult>
  const waiting = new ReadableStream<ExecutionResult>(
    {
      start(controller) {
        queue = controller
      },
    },
    // Counts bytes, because few large events take as much memory as many small ones.
    { highWaterMark: most.bytes, size: () => weight },
  ).getReader()

  const end: Results['end'] = (last, how = 'ended') => {
    if (ending) return
    ending = how
    if (last) queue.enqueue(last)
    queue.close()
    ended()
  }
  const drop = () => void waiting.cancel()
  const stop = async (): Promise<IteratorResult<ExecutionResult>> => {
    end()
    // Queued results are dropped too.
    await waiting.cancel()
    return { value: undefined, done: true }
  }
  const stream: ResultStream = {
    next: () => waiting.read() as Promise<IteratorResult<ExecutionResult>>,
    return: stop,
    isLost: () => ending === 'lost',
    isOver: () => ending === 'over',
    throw: cause => stop().then(() => Promise.reject(cause)),
    [Symbol.asyncIterator]: () => stream,
  }
  return {
    stream,
    end,
    drop,
    isEnded: () => ending !== null,
    add(result, bytes) {
      if (ending) return
      weight = Math.max(bytes, Math.floor(most.bytes / most.waiting))
      if (queue.desiredSize! >= weight) queue.enqueue(result)
      else end(failed('Events came faster than the client received them.'), 'lost')
    },
  }
}

export const failed = (message: string): ExecutionResult => ({ errors: [errorFor('UPSTREAM_FAILED', message)] })

/** Last result of a stream whose connection broke. */
export const brokenOff = (): ExecutionResult => failed('The events ended, for the connection broke; subscribe again.')
