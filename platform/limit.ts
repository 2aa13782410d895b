/** Counts what happens by key within a window of time, in a bounded memory. */
export interface Limit {
  /** How many milliseconds until there is room again; 0 when there is room now. */
  wait(key: string, now: Date): number
  /** Counts one. */
  add(key: string, now: Date): void
  /** Takes back one that was counted. */
  giveBack(key: string): void
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
    giveBack(key) {
      const entry = counts.get(key)
      if (entry && entry.count > 0) entry.count -= 1
    },
    clear(key) {
      counts.delete(key)
    },
  }
}
