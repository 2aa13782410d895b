import type { Clock } from 'pg-boss'

/** Thrown for work that exceeded its time limit. The work may still run. */
export class Overdue extends Error {
  override readonly name = 'Overdue'
}

/**
 * Waits for work, up to a time limit.
 * @param what names the work in the message "<what> did not end within 60 s"
 * @throws Overdue when the limit passes
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

/** A monotonic clock in ms: the process's own, or one that a test moves. */
export type Elapsed = () => number
