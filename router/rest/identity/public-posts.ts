import { setTimeout } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { neighbourhoodOf } from '../../../platform/caller/address.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import type { Authority } from '../../../subgraphs/authority.ts'
import type { ForwardRow } from '../row.ts'

/** Maximum number of addresses remembered as over the limit, so that further requests from them cause no call. */
const mostFull = 20_000

/**
 * Whether calls of a route are counted: routes by which identity creates accounts, sends mails or accepts codes without
 * credentials.
 */
export const isCounted = ({ access, to }: Pick<ForwardRow, 'access' | 'to'>, method: string): boolean =>
  'public' in access && to === 'identity' && method === 'POST'

/**
 * Delays in ms before callers without credentials learn that they are over the limit: rejections are sent one after
 * another, so that guessing over many connections leaves processor time to others. Above `most` and `mostHeld` they are
 * sent at once, because waiting takes memory.
 */
const pace = { least: 250, each: 25, most: 2_000, mostHeld: 1_000 }

/** Protects the routes that need no credentials. */
export interface PublicPosts {
  /** A hook that counts a call. @throws RATE_LIMITED when the caller's address is over the limit */
  count(request: FastifyRequest): Promise<void>
  /** Waits before a refusal of too much is answered. */
  slow(): Promise<void>
}

/**
 * Counts calls by the caller's address before anything else is examined, so that a caller over the limit learns
 * nothing. Identity counts for all routers together; while it cannot be reached, all of these calls are rejected.
 */
export function createPublicPosts({ countPublicPosts }: Pick<Authority, 'countPublicPosts'>, clock: Clock): PublicPosts {
  const fullUntil = new LRUCache<string, number>({ max: mostFull })
  const count = together(countPublicPosts)
  let [held, last] = [0, 0]

  async function slow(): Promise<void> {
    if (held >= pace.mostHeld) return
    const now = performance.now()
    last = Math.min(Math.max(now + pace.least, last + pace.each), now + pace.most)
    held += 1
    await setTimeout(last - now)
    held -= 1
  }

  return {
    slow,
    async count({ ip }) {
      const [address, now] = [neighbourhoodOf(ip), clock.now().getTime()]
      const known = (fullUntil.get(address) ?? 0) - now
      const waitMs = known > 0 ? known : await count(address)
      if (waitMs <= 0) return
      fullUntil.set(address, now + waitMs)
      await slow()
      throw new DomainError('RATE_LIMITED', 'Too many requests without sign-in came from your address: wait a while, then try again.', {
        retryAfter: Math.ceil(waitMs / 1000),
      })
    },
  }
}

/**
 * Counts the public posts of one address with one call at a time: posts that arrive meanwhile are counted together by
 * the next call.
 * @returns a function that gives 0 for an allowed call, else the milliseconds to wait
 */
function together(count: Authority['countPublicPosts']): (address: string) => Promise<number> {
  const waiting = new Map<string, PromiseWithResolvers<number>[]>()

  async function ask(address: string, calls: readonly PromiseWithResolvers<number>[]): Promise<void> {
    try {
      const { granted, waitMs } = await count(address, calls.length)
      for (const [at, { resolve }] of calls.entries()) resolve(at < granted ? 0 : waitMs)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
    const next = waiting.get(address)!
    if (next.length === 0) {
      waiting.delete(address)
      return
    }
    waiting.set(address, [])
    void ask(address, next)
  }

  return address => {
    const call = Promise.withResolvers<number>()
    const others = waiting.get(address)
    if (others) others.push(call)
    else {
      waiting.set(address, [])
      void ask(address, [call])
    }
    return call.promise
  }
}
