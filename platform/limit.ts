import { DomainError } from './errors.ts'

/** Counts occurrences by key within a window of time, in bounded memory. */
export interface Limit {
  /** Returns the milliseconds until another one is allowed; 0 when it is allowed now. */
  wait(key: string, now: Date): number
  /** Counts one occurrence. */
  add(key: string, now: Date): void
  /** Withdraws one counted occurrence. */
  release(key: string): void
  /** Removes a key's count. */
  clear(key: string): void
}

export interface LimitOptions {
  /** Maximum occurrences of a key within the window. */
  readonly most: number
  /** Length of the window in milliseconds; it begins with a key's first count. */
  readonly windowMs: number
  /** Maximum number of keys; above it the key whose window began first is removed. @default 20000 */
  readonly capacity?: number
}

export function createLimit({ most, windowMs, capacity = 20_000 }: LimitOptions): Limit {
  const counts = new Map<string, { count: number; readonly endsAt: number }>()
  const current = (key: string, now: Date) => {
    const entry = counts.get(key)
    if (!entry || entry.endsAt > now.getTime()) return entry
    counts.delete(key)
    return undefined
  }
  return {
    wait(key, now) {
      const entry = current(key, now)
      return entry && entry.count >= most ? entry.endsAt - now.getTime() : 0
    },
    add(key, now) {
      const entry = current(key, now)
      if (entry) entry.count += 1
      else counts.set(key, { count: 1, endsAt: now.getTime() + windowMs })
      if (counts.size > capacity) counts.delete(counts.keys().next().value!)
    },
    release(key) {
      const entry = counts.get(key)
      if (entry && entry.count > 0) entry.count -= 1
    },
    clear(key) {
      counts.delete(key)
    },
  }
}

/** Counts operations in progress by key; memory is bounded by their number. */
export interface Counter {
  /** Counts one more, and returns the count including it. */
  enter(key: string): number
  /** Withdraws one. */
  leave(key: string): void
}

export function createCounter(): Counter {
  const counts = new Map<string, number>()
  return {
    enter(key) {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count
    },
    leave(key) {
      const count = (counts.get(key) ?? 0) - 1
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
  }
}

const dayMs = 24 * 3_600_000

/** Number of created records of one kind, for its quota. */
export interface Usage {
  /** Number of records that count against the quota in all. */
  readonly inAll: number
  /** Number of records created after `dayBefore(now)`, and the time of the first of them. */
  readonly today: number
  readonly todaySince: Date | null
}

/** Returns the moment from which records count towards the daily quota. */
export const dayBefore = (now: Date): Date => new Date(now.getTime() - dayMs)

/**
 * Checks that another record may be created.
 * @param things the records in the plural, with their owner: `organizations that you created`
 * @throws CONFLICT (reason `QUOTA`) when the total is reached, RATE_LIMITED with `retryAfter` in seconds when the daily
 * quota is used up
 */
export function requireQuota(used: Usage, most: { readonly inAll: number; readonly aDay: number }, things: string, remedy: string, now: Date): void {
  if (used.inAll >= most.inAll)
    throw new DomainError('CONFLICT', `There are ${used.inAll} ${things}, and there may be ${most.inAll}: ${remedy}.`, { reason: 'QUOTA' })
  if (used.today < most.aDay) return
  const retryAfter = Math.max(1, Math.ceil(((used.todaySince ?? now).getTime() + dayMs - now.getTime()) / 1000))
  throw new DomainError('RATE_LIMITED', `There are ${used.today} ${things} within a day, and there may be ${most.aDay}: go on in ${retryAfter} seconds.`, {
    retryAfter,
  })
}
