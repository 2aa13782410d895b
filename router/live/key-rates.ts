import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../platform/errors.ts'
import type { Authority, KeyLoan, KeyUse } from '../../subgraphs/authority.ts'
import { type Authenticate, type Caller, isCaller } from '../access/authenticate.ts'

const windowMs = 60_000
/** Milliseconds for which a router may use a loan, and the interval at which it reports its use. */
const loanMs = 1000
/** Maximum number of keys whose recent use is known; the least recently used keys start anew. */
const mostKeys = 20_000

/** Limits the use of API keys: each key has its own limit, over any 60 seconds. */
export interface KeyRates {
  /**
   * Counts one request, or one operation of a socket; requests without a key are not counted.
   * @returns null when the answer is known at once; else a promise that rejects with the same errors
   * @throws DomainError RATE_LIMITED, with the seconds after which the next request may come. Rejected requests are not
   * counted.
   */
  count(caller: Caller): Promise<void> | null
  /** Stops reporting uses. */
  stop(): void
}

/** Key rates for a platform without API keys. */
export const noKeyRates: KeyRates = { count: () => null, stop() {} }

const tooOften = (perMinute: number, waitMs: number): DomainError =>
  new DomainError('RATE_LIMITED', `This API key may be used for ${perMinute} requests a minute: ask again later, or make it one with a higher limit.`, {
    retryAfter: Math.min(60, Math.max(1, Math.ceil(waitMs / 1000))),
  })

/** Moments of a key's uses within the last minute, in a ring buffer that grows with the use, up to the limit. */
interface Uses {
  at: Float64Array
  first: number
  size: number
}

/**
 * Counts in this process alone, exactly: never more than the limit within any 60 seconds, and never less.
 * @param now monotonic clock in ms @default performance.now
 */
export function createOwnKeyRates(now: () => number = () => performance.now()): KeyRates {
  // Evicts the least recently used; an entry unused for a minute has no effect any more.
  const keys = new LRUCache<string, Uses>({ max: mostKeys, ttl: windowMs + loanMs, updateAgeOnGet: true, ttlAutopurge: false, perf: { now } })
  return {
    count({ viewer: { keyId }, credential: { perMinute } }) {
      if (keyId === null || perMinute === undefined) return null
      const uses = keys.get(keyId) ?? { at: new Float64Array(8), first: 0, size: 0 }
      const at = now()
      while (uses.size > 0 && uses.at[uses.first]! <= at - windowMs) {
        uses.first = (uses.first + 1) % uses.at.length
        uses.size -= 1
      }
      if (uses.size >= perMinute) throw tooOften(perMinute, uses.at[uses.first]! + windowMs - at)
      if (uses.size === uses.at.length) grow(uses)
      uses.at[(uses.first + uses.size) % uses.at.length] = at
      uses.size += 1
      keys.set(keyId, uses)
      return null
    },
    stop() {},
  }
}

function grow(uses: Uses): void {
  const larger = new Float64Array(uses.at.length * 2)
  larger.set(uses.at.subarray(uses.first))
  larger.set(uses.at.subarray(0, uses.first), uses.at.length - uses.first)
  Object.assign(uses, { at: larger, first: 0 })
}

interface Waiting {
  resolve(): void
  reject(cause: unknown): void
}

/** This router's share of a key's uses. */
interface Purse {
  readonly perMinute: number
  /** Uses left until `endsAt`. */
  spare: number
  endsAt: number
  /** Moments of uses of the loan that are not reported yet. */
  used: number[]
  /** Whether a loan has not been reported yet. */
  owes: boolean
  /** Until then identity has nothing to lend. */
  emptyUntil: number
  waiting: Waiting[]
  asking: boolean
}

/**
 * Counts together with the other routers: identity lends each of them uses of a key, as many as wait and a few more for
 * the next second. So one call serves many requests, and none is made where the answer is known to be no.
 * @param now monotonic clock in ms @default performance.now
 */
export function createSharedKeyRates(authority: Pick<Authority, 'lendKeys'>, now: () => number = () => performance.now()): KeyRates {
  const router = randomUUID()
  const purses = new LRUCache<string, Purse>({ max: mostKeys })

  /** A router's report about a key, which starts regular reports. */
  const take = (keyId: string, purse: Purse, want: number, at: number): KeyUse => {
    const counts = new Map<number, number>()
    for (const moment of purse.used) counts.set(moment, (counts.get(moment) ?? 0) + 1)
    Object.assign(purse, { used: [], owes: false, spare: 0 })
    const { perMinute } = purse
    const used = [...counts].map(([moment, count]) => ({ agoMs: Math.round(at - moment), count }))
    return { router, keyId, perMinute, used, want, spare: want > 0 ? Math.floor(perMinute / 20) : 0 }
  }
  const receive = (purse: Purse, { spare }: KeyLoan, askedAt: number) => {
    Object.assign(purse, { spare, endsAt: askedAt + loanMs, owes: spare > 0 })
  }

  const ask = async (keyId: string, purse: Purse): Promise<void> => {
    if (purse.asking) return
    purse.asking = true
    // Requests of the same turn are sent together.
    await new Promise(setImmediate)
    while (purse.waiting.length > 0) {
      const waiting = purse.waiting
      purse.waiting = []
      const askedAt = now()
      try {
        const [loan] = await authority.lendKeys([take(keyId, purse, waiting.length, askedAt)])
        receive(purse, loan!, askedAt)
        if (loan!.granted < waiting.length) purse.emptyUntil = now() + loan!.waitMs
        for (const [at, each] of waiting.entries()) {
          if (at < loan!.granted) each.resolve()
          else each.reject(tooOften(purse.perMinute, loan!.waitMs))
        }
      } catch {
        for (const each of waiting)
          each.reject(new DomainError('UPSTREAM_FAILED', 'The service "identity" did not answer; try again in a moment.', { service: 'identity' }))
      }
    }
    purse.asking = false
  }

  /** Returns the rest of an expired loan, so that other routers may use it. */
  const settle = () => {
    const at = now()
    const over = [...purses.entries()].filter(([, { owes, endsAt, asking }]) => owes && !asking && endsAt <= at)
    const uses = over.map(([keyId, purse]) => take(keyId, purse, 0, at))
    // If the answer is lost, the borrowed rate counts as used for a minute.
    if (uses.length > 0) authority.lendKeys(uses).catch(() => {})
  }
  const timer = setInterval(settle, loanMs)
  timer.unref()

  return {
    count({ viewer: { keyId }, credential: { perMinute } }) {
      if (keyId === null || perMinute === undefined) return null
      const at = now()
      const purse = purses.get(keyId) ?? { perMinute, spare: 0, endsAt: 0, used: [], owes: false, emptyUntil: 0, waiting: [], asking: false }
      purses.set(keyId, purse)
      if (purse.emptyUntil > at) throw tooOften(perMinute, purse.emptyUntil - at)
      if (purse.spare > 0 && purse.endsAt > at) {
        purse.spare -= 1
        purse.used.push(at)
        return null
      }
      return new Promise((resolve, reject) => {
        purse.waiting.push({ resolve, reject })
        void ask(keyId, purse)
      })
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * Authenticates callers and counts each request of a key: a request above the limit is rejected like an invalid
 * credential.
 */
export const countingKeys = (authenticate: Authenticate, rates: KeyRates): Authenticate =>
  Object.assign(
    async (...asked: Parameters<Authenticate>) => {
      const result = await authenticate(...asked)
      if (!isCaller(result)) return result
      try {
        const counted = rates.count(result)
        if (counted) await counted
        return result
      } catch (refusal) {
        if (refusal instanceof DomainError && refusal.code === 'RATE_LIMITED') return { refusal, setCookie: [], expired: false }
        throw refusal
      }
    },
    { forget: authenticate.forget },
  )
