import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { doFor } from '../../platform/caller/cause.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Claim } from '../access/callers/claim.ts'

/** How many requests begin between two looks of the event loop at everything else, and how many of one name wait for that. */
export const paceLimits = { perTurn: 16, waiting: 2_000 } as const

/** Lets requests begin a few at a time, those of different names in turn. */
export interface Pace {
  /**
   * Begins a request: at once while few of this turn of the event loop have begun, else when its turn comes.
   * @throws RATE_LIMITED when too many of its name wait
   */
  begin(name: string, work: () => void): void
}

/**
 * Makes the pace. What many clients of one organization send at once is begun in many turns of the event loop, so that the requests of
 * others begin between, and what others wait for from a database is taken up between.
 */
export function createPace({ perTurn, waiting }: { readonly perTurn: number; readonly waiting: number } = paceLimits): Pace {
  const lines = new Map<string, Set<() => void>>()
  let begun = 0
  let isScheduled = false

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    // It is done for all of them.
    doFor(null, () => setImmediate(turn))
  }
  const turn = () => {
    isScheduled = false
    begun = 0
    while (begun < perTurn) {
      const [next] = lines
      if (next === undefined) break
      const [name, line] = next
      const [work] = line
      line.delete(work!)
      // To the end of those who take turns.
      lines.delete(name)
      if (line.size > 0) lines.set(name, line)
      begun += 1
      work!()
    }
    if (begun > 0) schedule()
  }
  return {
    begin(name, work) {
      schedule()
      if (begun < perTurn && lines.size === 0) {
        begun += 1
        return work()
      }
      const line = lines.get(name)
      if (!line) return void lines.set(name, new Set([work]))
      if (line.size >= waiting) throw new Refusal('RATE_LIMITED', 'Too many requests of yours wait to be begun: send fewer at once.', { retryAfter: 1 })
      line.add(work)
    },
  }
}

/** Headers that say who sends a request. */
const credentialHeaders = ['authorization', 'x-api-key', 'x-service-token', 'cookie'] as const
/** Of how many credentials it is known whose they are. */
const maxKnown = 20_000

/** With whom the holder of a credential takes turns, by a digest of what was sent. */
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
 * With whom a request takes turns before it is known who sends it: with the organization of its credential, when that has counted before;
 * else with everything that comes from its address without one, so that nobody gets more turns by making credentials up.
 */
export function turnOf(request: IncomingMessage, address: string): string {
  const digest = digestOf(request)
  if (digest === undefined) return neighbourhoodOf(address)
  digests.set(request, digest)
  return known.get(digest) ?? neighbourhoodOf(address)
}

/** Remembers with whom the holder of a request's credential takes turns. */
export function rememberTurn(request: IncomingMessage, { organization }: Claim): void {
  const digest = digests.get(request)
  if (digest !== undefined) known.set(digest, organization)
}
