import type { Clock } from 'pg-boss'

/** A piece of work that did not end in its time. What it began may still be under way. */
export class Overdue extends Error {
  override readonly name = 'Overdue'
}

/**
 * Waits for a piece of work, but not for ever.
 * @param what names the work in the sentence "<what> did not end within 60 s"
 * @throws Overdue when it has not ended in its time
 */
export async function within<Result>(clock: Clock, ms: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: unknown
  const late = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => reject(new Overdue(`${what} did not end within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clock.clearTimeout(timer)
  }
}

/** Ms on a clock that only goes forward: the process's own, or the one that a test moves. */
export type Elapsed = () => number
