import { DomainError } from '../../../../platform/errors.ts'
import type { CallRow } from '../../stores/call.ts'
import { type CallChange, changeOf, type Place, placesOf } from '../../stores/spend/books.ts'
import { resetsAt, type SpendLimitRow } from '../../stores/spend/limit.ts'
import { type Admission, admit, alerted, asOf, book, type Candidate, heldForMs, raise, release, type Unclear } from './booking.ts'

/** An entry of a batch. */
export type Entry =
  | { readonly kind: 'begin'; readonly call: CallRow; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'charge'; readonly call: CallRow; readonly candidates: readonly Candidate[] }
  | EndEntry
  | CoverEntry
  | { readonly kind: 'release'; readonly call: CallKey }
  /** A charge that was rejected in another transaction, with which its limits' changes were rolled back. */
  | { readonly kind: 'refused'; readonly call: CallRow; readonly candidates: readonly Candidate[] }

/** Identifies a call. */
export type CallKey = Pick<CallRow, 'organizationId' | 'id'>

/** A call that ends. */
export interface EndEntry {
  readonly kind: 'end'
  readonly ended: CallChange
  /** Amounts that stay reserved. */
  readonly unclear: readonly Unclear[]
}

/** Raises a running call's reservation, because another model is tried while an unanswered one may still charge. */
export interface CoverEntry {
  readonly kind: 'cover'
  readonly call: CallKey
  /** Amount in whole micro-dollars. */
  readonly micros: bigint
}

/** Entries that change a running call. */
export type LaterEntry = Exclude<Entry, { kind: 'begin' | 'charge' | 'refused' }>

export const isLater = (entry: Entry): entry is LaterEntry => !['begin', 'charge', 'refused'].includes(entry.kind)

/** The call that an entry is about. */
export const keyOf = (entry: Entry): CallKey => (entry.kind === 'end' ? entry.ended : entry.call)

/** Result of an entry. */
export type Outcome = Admitted | { readonly refused: DomainError } | { readonly ended: boolean } | Covered

export interface Covered {
  /** The present reservation; null: a limit does not cover it, or the call has ended. */
  readonly covered: CallRow['held'] | null
}

export interface Admitted {
  readonly allowed: readonly Candidate[]
  /** Whether a hard limit applies. */
  readonly isLimited: boolean
  /** The written row. */
  readonly call: CallRow
}

/** Results of a batch. */
export interface Decided {
  readonly outcomes: readonly Outcome[]
  readonly changes: readonly { readonly before: SpendLimitRow; readonly after: SpendLimitRow }[]
  readonly begun: readonly CallRow[]
  /** Changes of calls that had begun. */
  readonly ended: readonly CallChange[]
  /** Rejected charges, which are logged although their transaction is rolled back. */
  readonly refusedCharges: readonly Extract<Entry, { kind: 'refused' }>[]
  /** Whether a limit applies, for each calling organization. */
  readonly isLimited: ReadonlyMap<string, boolean>
}

/** Returns the scopes of limits for a beginning call. */
export const placesOfEntry = ({ call, candidates }: Exclude<Entry, LaterEntry>): readonly Place[] =>
  placesOf(
    call,
    candidates.map(({ model }) => model),
    candidates.some(({ isOnPlatform }) => isOnPlatform),
  )

/** Returns the scopes of limits for an ending call, with each model that answered or may have worked. */
export const placesOfEnd = (call: CallRow, { ended: { model, attempts, platformMicros } }: EndEntry): readonly Place[] =>
  placesOf(call, [model, ...attempts.flatMap(attempt => (attempt.costMicros == null ? [] : [attempt.model]))], (platformMicros ?? 0n) > 0n)

/**
 * Applies the rules to entries in their order.
 * @param before  every limit that applies to one of them, or has a reservation for one
 * @param running calls of the later entries, as far as they run or have a reservation
 */
export function decide(entries: readonly Entry[], before: readonly SpendLimitRow[], running: readonly CallRow[], now: Date): Decided {
  const limits = new Map(before.map(limit => [limit.id, asOf(limit, now)]))
  const begun: CallRow[] = []
  const ended: CallChange[] = []
  const refusedCharges: Extract<Entry, { kind: 'refused' }>[] = []
  const isLimited = new Map<string, boolean>()
  const take = (changes: readonly SpendLimitRow[]) => {
    for (const limit of changes) limits.set(limit.id, alerted(limit, now))
  }
  const refuse = (admission: Admission) => {
    if ('refused' in admission) for (const limit of admission.short) limits.set(limit.id, alerted(limit, now, true))
  }
  const open = new Map(running.map(call => [call.id, call]))
  const end = ({ ended: change, unclear }: EndEntry): Outcome => {
    const call = open.get(change.id)
    if (!call || !(call.status === 'RUNNING' || (call.expired && !change.expired))) return { ended: false }
    open.delete(call.id)
    const { model, attempts, platformMicros } = change
    const booked = book([...limits.values()], { ...call, model, attempts, platformMicros }, change.costMicros ?? 0n, unclear)
    take(booked.limits)
    const pendingUntil = booked.pending.length > 0 ? call.expiresAt : null
    ended.push({ ...change, pending: booked.pending, pendingUntil, endedAt: now > call.createdAt ? now : call.createdAt })
    return { ended: true }
  }
  const cover = ({ call: { id }, micros }: CoverEntry): Outcome => {
    const call = open.get(id)
    const raised = call?.status === 'RUNNING' ? raise([...limits.values()], call.held, micros) : null
    if (!call || !raised) return { covered: null }
    take(raised.limits)
    open.set(id, { ...call, held: raised.held })
    ended.push({ ...changeOf(call), held: raised.held })
    return { covered: raised.held }
  }
  const free = ({ id }: CallKey): Outcome => {
    const call = open.get(id)
    if (!call || call.pending.length === 0) return { ended: false }
    open.delete(id)
    take(release([...limits.values()], call.pending))
    ended.push({ ...changeOf(call), pending: [], pendingUntil: null })
    return { ended: true }
  }
  const outcomes = entries.map((entry): Outcome => {
    if (entry.kind === 'end') return end(entry)
    if (entry.kind === 'cover') return cover(entry)
    if (entry.kind === 'release') return free(entry.call)
    const call = { ...entry.call, createdAt: now }
    const places = placesOfEntry(entry)
    const own = [...limits.values()].filter(limit => isAt(limit, places))
    isLimited.set(call.organizationId, own.length > 0)
    const admission = admit(own, entry.candidates)
    if (entry.kind === 'refused') {
      refuse(admission)
      begun.push(entry.call)
      return { ended: true }
    }
    if ('refused' in admission) {
      const refused: CallRow = { ...call, status: 'REFUSED', costMicros: 0n, expiresAt: null, endedAt: now }
      if (entry.kind === 'charge') refusedCharges.push({ kind: 'refused', call: refused, candidates: entry.candidates })
      else {
        refuse(admission)
        begun.push(refused)
      }
      return { refused: refusalOf(admission, call.id) }
    }
    const { allowed, held } = admission
    const isHard = admission.limits.some(({ hardLimitMicros }) => hardLimitMicros !== null)
    const isCharge = entry.kind === 'charge'
    take(isCharge ? book(admission.limits, { ...call, held }, call.costMicros ?? 0n).limits : admission.limits)
    const written: CallRow = isCharge ? { ...call, endedAt: now } : { ...call, held, expiresAt: new Date(now.getTime() + heldForMs) }
    begun.push(written)
    return { allowed, isLimited: isHard, call: written }
  })
  const changes = before.flatMap(limit => (limits.get(limit.id) === limit ? [] : [{ before: limit, after: limits.get(limit.id)! }]))
  return { outcomes, changes, begun, ended, refusedCharges, isLimited }
}

/** Whether a limit has one of these scopes. */
export const isAt = (limit: SpendLimitRow, places: readonly Place[]): boolean =>
  places.some(
    ({ organizationId, type, value }) => (limit.organizationId ?? organizationId) === organizationId && limit.scopeType === type && limit.scopeValue === value,
  )

/** Error for the caller, without amounts, which only owners may see. */
function refusalOf({ refused, limit }: Extract<Admission, { readonly refused: unknown }>, callId: string): DomainError {
  if (refused === 'UNPRICED')
    return new DomainError(
      'FORBIDDEN',
      'The price of this model is unknown, and a spend limit needs one: choose a model with a price, or let the limit allow models without.',
      { reason: 'model_unpriced', callId },
    )
  const resets = resetsAt(limit.period, limit.since)
  const details = { scopeType: limit.scopeType, resetsAt: resets?.toISOString() ?? null, callId }
  if (limit.scopeType === 'PLATFORM_CREDENTIALS') return new DomainError('BUDGET_EXCEEDED', platformCredentialsRefused(limit, resets), details)
  const when = resets ? `wait until ${resets.toISOString()}` : 'ask who manages limits to raise it'
  return new DomainError('BUDGET_EXCEEDED', `A spend limit of ${scopeNames[limit.scopeType]} does not cover this call: ${when}.`, details)
}

/** Error above the limit of platform credentials, with the advice to store one's own. */
function platformCredentialsRefused({ hardLimitMicros, isDefault, hasAllowance }: SpendLimitRow, resets: Date | null): string {
  const what =
    hardLimitMicros === 0n
      ? 'This organization may spend nothing with credentials of the platform'
      : 'What this organization may spend with credentials of the platform does not cover this call'
  const why = isDefault && !hasAllowance ? ', because whoever founded it has founded another before' : ''
  const wait = resets && hardLimitMicros !== 0n ? `, or wait until ${resets.toISOString()}` : ''
  return `${what}${why}: set a credential of its own for the provider, ask the operator to raise the limit${wait}.`
}

const scopeNames: Readonly<Record<SpendLimitRow['scopeType'], string>> = {
  PLATFORM: 'the platform',
  ORGANIZATION: 'the organization',
  APP: 'the app',
  USER: 'the person',
  PROVIDER_FAMILY: 'this family of providers',
  MODEL: 'the model',
  PLATFORM_CREDENTIALS: 'credentials of the platform',
}
