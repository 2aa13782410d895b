import { createPlaces, type Places } from '../../../../platform/caller/places.ts'
import { Refusal } from '../../../../platform/errors.ts'
import { createCounter } from '../../../../platform/limit.ts'

const MiB = 1024 * 1024
/** How many uploads send their bytes at once: those of one organization, and all that come to one process. */
const mostAtOnce = { organization: 32, process: 128 } as const
/** How many bytes one holds before it keeps them: by itself, beside many others, and about what all of them hold together. */
const part = { most: 8 * MiB, least: MiB, together: 64 * MiB } as const
/** For how long nothing may come of one, in ms: whoever sends nothing holds what came before in memory. */
const idleMs = 60_000

/** How many bytes of files are held whole while they wait and are worked on: those of one organization, and all in one process. */
const mostHeld = { organization: 64 * MiB, process: 192 * MiB } as const

/**
 * How many files are checked, or written to the storage with their rows, at once: those of one organization, and all in one process. Each
 * writes to disk from one of libuv's four threads and takes connections of the pool, which everybody else waits for as well.
 */
const mostKept = { ofParty: 4, all: 32 } as const

/** Uploads whose bytes come to this process at this moment. Each holds a part of its own in memory, so they are few, and many hold little each. */
export interface Receiving {
  /** For how long nothing may come of one, in ms. */
  readonly idleMs: number
  /** Receives one more. @throws RATE_LIMITED with `retryAfter` when as many are under way as may be */
  one<Result>(organizationId: string, receive: () => Promise<Result>): Promise<Result>
  /** Works on a file that is held whole. @throws RATE_LIMITED with `retryAfter` when as much is held as may be */
  hold<Result>(organizationId: string, bytes: number, work: () => Promise<Result>): Promise<Result>
  /** Places for what is done for a file in the storage and the database, which organizations take in turn. Looking at pictures has turns of its own. */
  readonly keeping: Places
  /** How many bytes each may hold at present before it keeps them. */
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

const tooMany = (what: string): Refusal =>
  new Refusal('RATE_LIMITED', `${what} send their bytes at this moment: let some of them arrive, then send more.`, { retryAfter: 5 })

const tooMuch = (whose: string, most: number): Refusal =>
  new Refusal('RATE_LIMITED', `Files ${whose} with more than ${most / MiB} MiB are being worked on: let some of them end, then send more.`, { retryAfter: 2 })
