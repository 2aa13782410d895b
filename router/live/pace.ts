import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { doFor } from '../../platform/caller/cause.ts'
import { DomainError } from '../../platform/errors.ts'
import type { Claim } from '../access/callers/claim.ts'

/** Limits on how fast requests begin. */
export interface PaceLimits {
  /** Maximum requests that begin in one turn of the event loop. */
  readonly perTurn: number
  /** Target duration of such a turn in ms: after a longer one, fewer requests begin in the next. */
  readonly turnMs: number
  /**
   * Number of turns for which waiting requests are put off while each turn brings a new one. Node accepts one
   * connection in a turn, so a client that connects behind two hundred others waits for two hundred turns, and a turn
   * in which no request begins is short.
   */
  readonly looks: number
  /** Maximum requests of one name that wait to begin. */
  readonly waiting: number
}

export const paceLimits: PaceLimits = { perTurn: 16, turnMs: 5, looks: 16, waiting: 2_000 }

/** Lets requests begin a few at a time, taking turns between names. */
export interface Pace {
  /**
   * Begins a request: at once while few have begun in this turn of the event loop, else when its turn comes.
   * @throws RATE_LIMITED when too many requests of the same name wait
   */
  begin(name: string, work: () => void): void
}

/**
 * Creates the pace. Requests that many clients of one organization send at once begin in many turns of the event loop,
 * so that the requests of others begin between them and database answers are handled. After a turn that took longer
 * than `turnMs`, the number of requests that begin in one turn is halved; after each shorter turn it grows by one.
 * @param now the time in ms, by which turns are measured
 */
export function createPace({ perTurn, turnMs, looks, waiting }: PaceLimits = paceLimits, now = () => performance.now()): Pace {
  const lines = new Map<string, Set<() => void>>()
  let begun = 0
  let isScheduled = false
  let may = perTurn
  /** When the latest turn in which requests began started; null once its duration was measured. */
  let turnAt: number | null = null
  let hasCome = false
  let looked = 0
  /** Whether nothing waited before this turn of the event loop. */
  let isFresh = true

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    // It is done for all of them.
    doFor(null, () => setImmediate(turn))
  }
  const turn = () => {
    isScheduled = false
    const at = now()
    if (turnAt !== null) {
      may = at - turnAt > turnMs ? Math.max(1, may >> 1) : Math.min(perTurn, may + 1)
      turnAt = null
    }
    isFresh = false
    if (hasCome && looked < looks) {
      looked += 1
      hasCome = false
      return schedule()
    }
    looked = 0
    hasCome = false
    begun = 0
    while (begun < may) {
      const [next] = lines
      if (next === undefined) break
      const [name, line] = next
      const [work] = line
      line.delete(work!)
      // Moves to the end of the round-robin queue.
      lines.delete(name)
      if (line.size > 0) lines.set(name, line)
      begun += 1
      work!()
    }
    isFresh = begun === 0
    if (isFresh) return
    turnAt = at
    schedule()
  }
  return {
    begin(name, work) {
      if (!isScheduled) turnAt = now()
      schedule()
      hasCome = true
      if (isFresh && begun < may && lines.size === 0) {
        begun += 1
        return work()
      }
      const line = lines.get(name)
      if (!line) return void lines.set(name, new Set([work]))
      if (line.size >= waiting) throw new DomainError('RATE_LIMITED', 'Too many requests of yours wait to be begun: send fewer at once.', { retryAfter: 1 })
      line.add(work)
    },
  }
}

/** Headers that carry a caller's credentials. */
const credentialHeaders = ['authorization', 'x-api-key', 'x-service-token', 'cookie'] as const
/** Maximum number of credentials whose organization is remembered. */
const maxKnown = 20_000

/** Maps the digest of a credential to the name under which its holder takes turns. */
const known = new LRUCache<string, string>({ max: maxKnown })
const digests = new WeakMap<IncomingMessage, string>()

function digestOf(request: IncomingMessage): string | undefined {
  let sent = ''
  for (const name of credentialHeaders) {
    const value = request.headers[name]
    if (value !== undefined) sent += `${name}:${value}\n`
  }
  return sent === '' ? undefined : hash('sha256', sent, 'base64')
}

/**
 * Returns the name under which a request takes turns before its caller is authenticated: the organization of its
 * credential, when that was valid before; else the address, so that invented credentials bring no further turns.
 */
export function turnOf(request: IncomingMessage, address: string): string {
  const digest = digestOf(request)
  if (digest === undefined) return neighbourhoodOf(address)
  digests.set(request, digest)
  return known.get(digest) ?? neighbourhoodOf(address)
}

/** Remembers the organization under which the holder of a request's credential takes turns. */
export function rememberTurn(request: IncomingMessage, { organization }: Claim): void {
  const digest = digests.get(request)
  if (digest !== undefined) known.set(digest, organization)
}
