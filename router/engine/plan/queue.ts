import PQueue from 'p-queue'
import { Refusal } from '../../../platform/errors.ts'

/** Lets so much work run at once; more of it waits in a queue that has an end. */
export interface Queue {
  /**
   * Runs work when its turn comes; the turn lasts until the work has settled.
   * @throws Refusal RATE_LIMITED when the queue is full, or when the turn does not come in time
   */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export interface QueueOptions {
  readonly atOnce: number
  /** How much work may wait. */
  readonly waiting: number
  /** Milliseconds until the turn must have come. */
  readonly patienceMs: number
  /** Tells those who wait in vain what is in their way. */
  readonly busy: string
}

/** Makes a queue of its own. */
export function createQueue({ atOnce, waiting, patienceMs, busy }: QueueOptions): Queue {
  const queue = new PQueue({ concurrency: atOnce })
  const refusal = () => new Refusal('RATE_LIMITED', busy, { retryAfter: 1 })
  return {
    async run(work) {
      if (queue.pending >= atOnce && queue.size >= waiting) throw refusal()
      const patience = new AbortController()
      const timer = setTimeout(() => patience.abort(refusal()), patienceMs)
      const begin = () => {
        clearTimeout(timer)
        return work()
      }
      return queue.add(begin, { signal: patience.signal })
    },
  }
}

/**
 * What a promise settles to, or a refusal when that takes too long; what goes on then is nobody's any more.
 * @param ms milliseconds
 */
export function within<Result>(ms: number, promise: Promise<Result>, refusal: () => Refusal): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(refusal()), ms)
  })
  return Promise.race([promise, over]).finally(() => clearTimeout(timer))
}
