import type { Claim } from '../../access/callers/claim.ts'

/** Maximum numbers of bytes that may be in flight at once. */
export interface BytesLimits {
  /** Limit of one caller: a person, a key, a program, or an address. */
  readonly ofCaller: number
  /** Limit of one organization, over all its callers. */
  readonly ofOrganization: number
  /** Limit of the whole process. */
  readonly all: number
}

const mebibyte = 1024 * 1024

/**
 * Limits where the configuration sets none: a process of 250 MB stays below the 768 MiB of the manifests, answers
 * included.
 */
export const usualBytes: BytesLimits = { ofCaller: 48 * mebibyte, ofOrganization: 96 * mebibyte, all: 192 * mebibyte }

/** Share of a caller's limit from which no further database reads are started for the caller. */
const nearly = 15 / 16

/** Which limit was reached. */
export type Full = 'caller' | 'organization' | 'process'

/**
 * Counts the bytes that a process holds for operations and answers in progress: data read for an operation until its
 * answer is built, and the answer until it is written.
 */
export interface BytesInFlight {
  /** The most bytes that one claim can take. */
  readonly largest: number
  /**
   * Takes bytes for a claim.
   * @returns null once they are taken; else the limit that was reached, and nothing is taken
   */
  take(claim: Claim, bytes: number): Full | null
  /** Counts bytes that are held in any case; they leave less for later claims. */
  hold(claim: Claim, bytes: number): void
  /** Releases bytes that were taken or held. */
  release(claim: Claim, bytes: number): void
  /** Whether the caller has used nearly all its bytes, so that further reads would be in vain. */
  isFull(claim: Claim): boolean
  /** Bytes that are taken now. */
  readonly total: number
}

export function createBytesInFlight({ ofCaller, ofOrganization, all }: BytesLimits = usualBytes): BytesInFlight {
  const callers = new Map<string, number>()
  const organizations = new Map<string, number>()
  let total = 0
  const add = (counts: Map<string, number>, name: string, bytes: number) => {
    const left = (counts.get(name) ?? 0) + bytes
    if (left > 0) counts.set(name, left)
    else counts.delete(name)
  }
  const hold: BytesInFlight['hold'] = ({ caller, organization }, bytes) => {
    total += bytes
    add(callers, caller, bytes)
    add(organizations, organization, bytes)
  }
  return {
    largest: Math.min(ofCaller, ofOrganization, all),
    take(claim, bytes) {
      if ((callers.get(claim.caller) ?? 0) + bytes > ofCaller) return 'caller'
      if ((organizations.get(claim.organization) ?? 0) + bytes > ofOrganization) return 'organization'
      if (total + bytes > all) return 'process'
      hold(claim, bytes)
      return null
    },
    hold,
    isFull: ({ caller }) => total > 0 && (callers.get(caller) ?? 0) > nearly * ofCaller,
    release: (claim, bytes) => hold(claim, -bytes),
    get total() {
      return total
    },
  }
}
