import { createPlaces, type Places } from '../../../../platform/caller/places.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createCounter } from '../../../../platform/limit.ts'

const MiB = 1024 * 1024
/** Maximum concurrent uploads of one organization, and of one process. */
const mostAtOnce = { organization: 32, process: 128 } as const
/** Bytes that an upload buffers before it stores them: alone, beside many others, and the approximate total. */
const part = { most: 8 * MiB, least: MiB, together: 64 * MiB } as const
/** Time in ms without data after which an upload is interrupted, because its buffer takes memory. */
const idleMs = 60_000

/** Maximum bytes of files held in memory while they wait and are processed, of one organization and of one process. */
const mostHeld = { organization: 64 * MiB, process: 192 * MiB } as const

/**
 * Maximum number of files that are checked, or written to the storage with their rows, at once: of one organization,
 * and in one process. Each writes to disk from one of libuv's four threads and takes connections of the pool, which
 * everybody else waits for as well.
 */
const mostKept = { ofParty: 4, all: 32 } as const

/** Uploads in progress in this process. Each buffers a part in memory, so their number and buffers are limited. */
export interface Receiving {
  /** Time in ms without data after which an upload is interrupted. */
  readonly idleMs: number
  /** Runs an upload. @throws RATE_LIMITED with `retryAfter` when the maximum number is in progress */
  one<Result>(organizationId: string, receive: () => Promise<Result>): Promise<Result>
  /**
   * Processes a file that is held in memory. @throws RATE_LIMITED with `retryAfter` when the maximum of bytes is held
   */
  hold<Result>(organizationId: string, bytes: number, work: () => Promise<Result>): Promise<Result>
  /** Slots for storing files, which organizations take in turn. Decoding pictures has a queue of its own. */
  readonly keeping: Places
  /** Returns the bytes that each upload may buffer at present. */
  partBytes(): number
}

export function createReceiving(): Receiving {
  const organizations = createCounter()
  let all = 0
  const held = new Map<string, number>()
  let allHeld = 0
  return {
    idleMs,
    keeping: createPlaces(mostKept),
    async one(organizationId, receive) {
      const ofOrganization = organizations.enter(organizationId)
      all += 1
      try {
        if (ofOrganization > mostAtOnce.organization) throw tooMany(`${mostAtOnce.organization} uploads of the organization`)
        if (all > mostAtOnce.process) throw tooMany('As many uploads as can be received at once')
        return await receive()
      } finally {
        organizations.leave(organizationId)
        all -= 1
      }
    },
    async hold(organizationId, bytes, work) {
      const ofOrganization = (held.get(organizationId) ?? 0) + bytes
      held.set(organizationId, ofOrganization)
      allHeld += bytes
      try {
        // A file alone is always taken, however long it is.
        if (ofOrganization > bytes && ofOrganization > mostHeld.organization) throw tooMuch('of the organization', mostHeld.organization)
        if (ofOrganization > bytes && allHeld > mostHeld.process) throw tooMuch('of all', mostHeld.process)
        return await work()
      } finally {
        const left = held.get(organizationId)! - bytes
        if (left > 0) held.set(organizationId, left)
        else held.delete(organizationId)
        allHeld -= bytes
      }
    },
    partBytes: () => Math.min(part.most, Math.max(part.least, Math.floor(part.together / Math.max(1, all)))),
  }
}

const tooMany = (what: string): DomainError =>
  new DomainError('RATE_LIMITED', `${what} send their bytes at this moment: let some of them arrive, then send more.`, { retryAfter: 5 })

const tooMuch = (whose: string, most: number): DomainError =>
  new DomainError('RATE_LIMITED', `Files ${whose} with more than ${most / MiB} MiB are being worked on: let some of them end, then send more.`, {
    retryAfter: 2,
  })
