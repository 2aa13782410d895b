import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'

/** Maximum model calls of an organization in a minute. */
const mostCallsAMinute = 6_000

/** Calls lent to a process at once: as many may lie unused with each process at the limit. */
const lentAtOnce = 60

const minuteMs = 60_000

/** Maximum organizations whose remaining calls are known. */
const mostOrganizations = 20_000

interface Purse {
  readonly minute: number
  left: number
  /** Whether nothing more is lent in this minute. */
  isLast: boolean
}

/**
 * Counts calls of organizations together with all processes: each process is lent a few of the minute's.
 * @param lend requests a number of a minute's calls, and returns how many are granted
 */
export function createAdmission(
  lend: (organizationId: string, minute: Date, want: number, most: number) => Promise<number>,
  clock: Clock,
  most = mostCallsAMinute,
): (organizationId: string) => Promise<void> | void {
  const purses = new LRUCache<string, Purse>({ max: mostOrganizations })
  const asking = new Map<string, Promise<void>>()

  const borrow = async (organizationId: string, minute: number): Promise<void> => {
    const left = await lend(organizationId, new Date(minute), Math.min(lentAtOnce, most), most)
    purses.set(organizationId, { minute, left, isLast: left < Math.min(lentAtOnce, most) })
  }

  /** @returns whether that was enough; false: ask for more */
  const take = (organizationId: string): boolean => {
    const now = clock.now().getTime()
    const purse = purses.get(organizationId)
    if (!purse || purse.minute !== minuteOf(now)) return false
    if (purse.left > 0) {
      purse.left -= 1
      return true
    }
    if (!purse.isLast) return false
    const retryAfter = Math.max(1, Math.ceil((purse.minute + minuteMs - now) / 1000))
    throw new DomainError('RATE_LIMITED', `An organization may make ${most} calls to models a minute: go on in ${retryAfter} seconds.`, { retryAfter })
  }

  const wait = async (organizationId: string): Promise<void> => {
    do {
      let borrowing = asking.get(organizationId)
      if (!borrowing) {
        borrowing = borrow(organizationId, minuteOf(clock.now().getTime())).finally(() => asking.delete(organizationId))
        asking.set(organizationId, borrowing)
      }
      await borrowing
    } while (!take(organizationId))
  }

  return organizationId => (take(organizationId) ? undefined : wait(organizationId))
}

const minuteOf = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs
