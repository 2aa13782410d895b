import { Refusal } from './errors.ts'

/** Counts what happens by key within a window of time, in a bounded memory. */
export interface Limit {
  /** How many milliseconds until there is room again; 0 when there is room now. */
  wait(key: string, now: Date): number
  /** Counts one. */
  add(key: string, now: Date): void
  /** Takes back one that was counted. */
  release(key: string): void
  /** Forgets a key. */
  clear(key: string): void
}

export interface LimitOptions {
  /** How many a key may have within the window. */
  readonly most: number
  /** The window's length in milliseconds; it begins with a key's first count. */
  readonly windowMs: number
  /** How many keys are remembered; past it the one whose window began first is forgotten. @default 20000 */
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

/** Counts what is under way at this moment, by key: no more keys are remembered than there are things under way. */
export interface Counter {
  /** Counts one more, and says how many there are with it. */
  enter(key: string): number
  /** Takes one away that was counted. */
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

/** What was made of one kind, as its quota counts it. */
export interface Usage {
  /** How many count against the quota in all. */
  readonly inAll: number
  /** How many were made after `dayBefore(now)`, and when the first of them. */
  readonly today: number
  readonly todaySince: Date | null
}

/** The moment from which things count as made within a day. */
export const dayBefore = (now: Date): Date => new Date(now.getTime() - dayMs)

/**
 * Checks that one more may be made.
 * @param things what they are, in the plural, with whose they are: `organizations that you created`
 * @throws CONFLICT (reason `QUOTA`) when there are as many as there may be, RATE_LIMITED with `retryAfter` in seconds when a day's are used up
 */
export function requireQuota(used: Usage, most: { readonly inAll: number; readonly aDay: number }, things: string, remedy: string, now: Date): void {
  if (used.inAll >= most.inAll)
    throw new Refusal('CONFLICT', `There are ${used.inAll} ${things}, and there may be ${most.inAll}: ${remedy}.`, { reason: 'QUOTA' })
  if (used.today < most.aDay) return
  const retryAfter = Math.max(1, Math.ceil(((used.todaySince ?? now).getTime() + dayMs - now.getTime()) / 1000))
  throw new Refusal('RATE_LIMITED', `There are ${used.today} ${things} within a day, and there may be ${most.aDay}: go on in ${retryAfter} seconds.`, {
    retryAfter,
  })
}
