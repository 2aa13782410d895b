import { Refusal } from '../../../../platform/errors.ts'
import { createCounter } from '../../../../platform/limit.ts'

const MiB = 1024 * 1024
/** How many uploads send their bytes at once: those of one organization, and all that come to one process. */
const mostAtOnce = { organization: 32, process: 128 } as const
/** How many bytes one holds before it keeps them: by itself, beside many others, and about what all of them hold together. */
const part = { most: 8 * MiB, least: MiB, together: 64 * MiB } as const
/** For how long nothing may come of one, in ms: whoever sends nothing holds what came before in memory. */
const idleMs = 60_000

/** Uploads whose bytes come to this process at this moment. Each holds a part of its own in memory, so they are few, and many hold little each. */
export interface Receiving {
  /** For how long nothing may come of one, in ms. */
  readonly idleMs: number
  /** Receives one more. @throws RATE_LIMITED with `retryAfter` when as many are under way as may be */
  one<Result>(organizationId: string, receive: () => Promise<Result>): Promise<Result>
  /** How many bytes each may hold at present before it keeps them. */
  partBytes(): number
}

export function createReceiving(): Receiving {
  const organizations = createCounter()
  let all = 0
  return {
    idleMs,
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
    partBytes: () => Math.min(part.most, Math.max(part.least, Math.floor(part.together / Math.max(1, all)))),
  }
}

const tooMany = (what: string): Refusal =>
  new Refusal('RATE_LIMITED', `${what} send their bytes at this moment: let some of them arrive, then send more.`, { retryAfter: 5 })
