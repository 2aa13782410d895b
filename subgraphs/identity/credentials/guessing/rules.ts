import type { Count } from '../../stores/credentials/limits.ts'
import type { Lane } from './queue.ts'

/** Window in which failures are counted, in milliseconds. */
const windowMs = 15 * 60_000

/**
 * Maximum failures of an account, and of an address, within the window; and those of a full account from addresses that
 * waited. Together no more than 100, the maximum of NIST SP 800-63B §3.2.2 in a row.
 */
const mostFailures = { account: 10, address: 100, patient: 90 }

/** Failures of an account from one place above which each further attempt from there is delayed. */
const mostFailuresFromOnePlace = 30
/** Maximum of that delay in ms; it doubles from a second. */
const mostDelayMs = 60_000

/** Initial wait in ms of a place without failures at an account whose count is full; each failure doubles it. */
const leastPatienceMs = 30_000

/** The counters of a sign-in; null where nothing is counted. A place is the account at one address. */
export interface Counts {
  readonly account: Count | null
  readonly address: Count | null
  readonly patient: Count | null
  readonly place: Count | null
}

/** What an attempt has reserved before its password is checked. */
export interface Claim {
  readonly lane: Lane
  /** Milliseconds until the account or the address has room again; 0 when there was room. */
  readonly full: number
  readonly before: Count | null
  /** Counter of strangers to the account, this attempt included; null for a known address. */
  readonly account: Count | null
  readonly place: Count
}

/** Result of an attempt; one that was not tried returns its reservation. */
export type Result = 'right' | 'wrong' | 'not tried'

const added = (count: Count | null, now: number): Count => (count ? { ...count, count: count.count + 1 } : { count: 1, since: now, endsAt: now + windowMs })
const givenBack = (count: Count | null): Count | null => (count && count.count > 1 ? { ...count, count: count.count - 1 } : null)
const failedAt = (place: Count | null, failures: number, now: number): Count => ({ count: (place?.count ?? 0) + failures, since: now, endsAt: now + windowMs })

const waitOf = (count: Count | null, most: number, now: number): number => (count && count.count >= most ? count.endsAt - now : 0)

/** Returns the milliseconds that a place with too many failures has to wait, even with a right password. */
function delayOf(place: Count | null, now: number): number {
  if (!place || place.count < mostFailuresFromOnePlace) return 0
  return Math.max(0, place.since + Math.min(mostDelayMs, 1000 * 2 ** (place.count - mostFailuresFromOnePlace)) - now)
}

/** Returns the milliseconds until an attempt from a place is allowed although the account's count is full. */
const patienceOf = (place: Count, now: number): number => Math.max(0, place.since + leastPatienceMs * 2 ** place.count - now)

/** Returns the milliseconds that a full count makes a stranger wait; 0 when the password may be checked. */
function waitOfStranger({ account, address, patient }: Counts, place: Count, now: number): number {
  const ofAccount = waitOf(account, mostFailures.account, now)
  // An address that guesses at many accounts has no second quota.
  const ofAddress = waitOf(address, mostFailures.address, now)
  if (ofAccount === 0 || ofAddress > 0) return Math.max(ofAccount, ofAddress)
  return Math.min(ofAccount, Math.max(patienceOf(place, now), waitOf(patient, mostFailures.patient, now)))
}

/**
 * Reserves the possible cost of an attempt before its password is checked, so that concurrent attempts in different
 * processes cannot exceed a limit together.
 * @returns the reservation, or the milliseconds to wait, and the new counters
 */
export function claim(counts: Counts, lane: Lane, now: number): { readonly wait: number; readonly claim?: Claim; readonly counts: Counts } {
  const delay = delayOf(counts.place, now)
  if (delay > 0) return { wait: delay, counts }
  const full = Math.max(waitOf(counts.account, mostFailures.account, now), waitOf(counts.address, mostFailures.address, now))
  const isPatient = full > 0 && lane === 'strangers'
  if (isPatient) {
    // The waiting time begins with the first attempt.
    const place = counts.place ?? failedAt(null, 0, now)
    const wait = waitOfStranger(counts, place, now)
    if (wait > 0) return { wait, counts: { ...counts, place } }
  }
  const place = failedAt(counts.place, 1, now)
  // Known addresses are admitted whatever the account's count is, so their attempts count only if wrong.
  const account = lane === 'strangers' ? added(counts.account, now) : counts.account
  return {
    wait: 0,
    claim: { lane, full, before: counts.place, account: lane === 'strangers' ? account : null, place },
    counts: {
      address: added(counts.address, now),
      account,
      patient: isPatient ? added(counts.patient, now) : counts.patient,
      place,
    },
  }
}

/**
 * Settles an attempt's reservation. @returns the counters, and for a wrong password above the limit the milliseconds to
 * wait
 */
export function settle(counts: Counts, taken: Claim, result: Result, now: number): { readonly wait: number; readonly counts: Counts } {
  const { lane } = taken
  if (result === 'right') return { wait: 0, counts: { account: null, patient: null, place: null, address: givenBack(counts.address) } }
  // The account's count may have been reset meanwhile, by a right password or by the end of the window.
  const isCounted = taken.account !== null && counts.account?.since === taken.account.since
  if (result === 'wrong') {
    // Attempts admitted by other processes at the same moment may have used up the account's quota.
    const full = lane === 'known' ? Math.max(taken.full, waitOf(counts.account, mostFailures.account, now)) : taken.full
    const place = failedAt(counts.place, counts.place ? 0 : 1, now)
    const after = { ...counts, place, account: isCounted ? counts.account : added(counts.account, now) }
    if (full === 0) return { wait: 0, counts: after }
    return { wait: lane === 'known' ? full : Math.max(1, waitOfStranger(after, place, now)), counts: after }
  }
  const isAsTaken = counts.place?.count === taken.place.count && counts.place.since === taken.place.since
  return {
    wait: 0,
    counts: {
      address: givenBack(counts.address),
      account: isCounted ? givenBack(counts.account) : counts.account,
      patient: taken.full > 0 && lane === 'strangers' ? givenBack(counts.patient) : counts.patient,
      place: isAsTaken ? taken.before : givenBack(counts.place),
    },
  }
}
