import type { CallAttempt, Held } from '../../stores/call.ts'
import {
  type BudgetAttention,
  type Counted,
  resetsAt,
  type SpendAlert,
  type SpendAlertKind,
  type SpendLimitRow,
  scopesOf,
  sinceOf,
} from '../../stores/spend/limit.ts'

// What limits hold, as rules: amounts are whole micro-dollars, moments are arguments.

/** Time in ms for which a call's reservation lasts without a result. */
export const heldForMs = 15 * 60_000

/** The present beside limits, which may have begun their periods by clocks that are ahead. */
export const monotonicNow = (now: Date, limits: readonly Pick<SpendLimitRow, 'since'>[]): Date =>
  new Date(Math.max(now.getTime(), ...limits.map(({ since }) => since.getTime())))

/**
 * Returns a limit in the period of a moment: a new period starts without spending, reservations or alerts. A lagging
 * clock never returns to a former period.
 */
export function asOf(limit: SpendLimitRow, now: Date): SpendLimitRow {
  const since = sinceOf(limit.period, now, limit.createdAt)
  if (since <= limit.since) return limit
  return { ...limit, since, spentMicros: 0n, reservedMicros: 0n, overdrawnMicros: 0n, alerts: [], attention: null }
}

/** Returns the remaining amount; null without a hard limit. Below 0 for a limit that was set below the spent amount. */
export const remainingOf = ({ hardLimitMicros, spentMicros, reservedMicros }: SpendLimitRow): bigint | null =>
  hardLimitMicros === null ? null : hardLimitMicros - spentMicros - reservedMicros

/** Whether a limit applies to a call that this model answers. */
export function countsIn(limit: Pick<SpendLimitRow, 'organizationId' | 'scopeType' | 'scopeValue'>, call: Counted, model: string | null): boolean {
  if (limit.organizationId !== null && limit.organizationId !== call.organizationId) return false
  if (limit.scopeType === 'MODEL') return limit.scopeValue === model
  if (limit.scopeType === 'PLATFORM_CREDENTIALS') return limit.scopeValue === call.organizationId
  return scopesOf(call).some(({ type, value }) => type === limit.scopeType && value === limit.scopeValue)
}

/** A candidate of a call with its maximum cost; null without a known price. */
export interface Candidate {
  readonly model: string | null
  readonly upperMicros: bigint | null
  /** Whether it uses a platform credential. */
  readonly isOnPlatform?: boolean
}

/** Decision about a call's begin. */
export type Admission =
  | { readonly allowed: readonly Candidate[]; readonly held: readonly Held[]; readonly limits: readonly SpendLimitRow[] }
  | {
      readonly refused: 'BUDGET' | 'UNPRICED'
      /** The limit that the error names to the caller. */
      readonly limit: SpendLimitRow
      /** All limits that do not cover the call. */
      readonly short: readonly SpendLimitRow[]
    }

/** Whether a limit counts some candidates of a call alone. */
const isPartial = ({ scopeType }: Pick<SpendLimitRow, 'scopeType'>): boolean => scopeType === 'MODEL' || scopeType === 'PLATFORM_CREDENTIALS'

/** Whether a limit of certain candidates applies to this one. */
const countsCandidate = ({ scopeType, scopeValue }: SpendLimitRow, { model, isOnPlatform = false }: Candidate): boolean =>
  (scopeType === 'MODEL' && scopeValue === model) || (scopeType === 'PLATFORM_CREDENTIALS' && isOnPlatform)

/**
 * Reserves a call's possible cost in all of its limits, or in none. A later candidate that a limit of its model or
 * credential does not cover, or that lacks a required price, is left out; for the first one the call is rejected.
 * @param limits the applicable limits in their present state
 */
export function admit(limits: readonly SpendLimitRow[], candidates: readonly Candidate[]): Admission {
  const general = limits.filter(limit => !isPartial(limit))
  const partial = limits.filter(isPartial)
  const ownOf = (candidate: Candidate) => partial.filter(limit => countsCandidate(limit, candidate))
  const objectionTo = (candidate: Candidate): Admission | null => {
    const own = ownOf(candidate)
    if (candidate.upperMicros === null) {
      const strict = [...general, ...own].find(({ hardLimitMicros, unpriced }) => hardLimitMicros !== null && unpriced === 'BLOCK')
      if (strict) return { refused: 'UNPRICED', limit: strict, short: [] }
    }
    return refusedBy(own.filter(limit => !covers(limit, candidate.upperMicros ?? 0n)))
  }
  const allowed: Candidate[] = []
  for (const candidate of candidates) {
    const objection = objectionTo(candidate)
    if (!objection) allowed.push(candidate)
    else if (candidate === candidates[0]) return objection
  }
  const dearest = allowed.reduce((most, { upperMicros }) => (upperMicros !== null && upperMicros > most ? upperMicros : most), 0n)
  const refused = refusedBy(general.filter(limit => !covers(limit, dearest)))
  if (refused) return refused
  const wanted = new Map<string, bigint>(general.map(({ id }) => [id, dearest]))
  for (const candidate of allowed) for (const { id } of ownOf(candidate)) wanted.set(id, most(wanted.get(id) ?? 0n, candidate.upperMicros ?? 0n))
  const holding = limits.filter(({ id }) => wanted.has(id))
  return {
    allowed,
    held: holding.map(({ id, since }) => ({ limitId: id, micros: `${wanted.get(id)!}`, since: since.toISOString() })),
    limits: holding.map(limit => ({ ...limit, reservedMicros: limit.reservedMicros + wanted.get(limit.id)! })),
  }
}

const covers = (limit: SpendLimitRow, micros: bigint): boolean => {
  const remaining = remainingOf(limit)
  return remaining === null || remaining >= micros
}

/** Returns the rejection by limits that do not cover a call; null where all do. */
function refusedBy(short: readonly SpendLimitRow[]): Admission | null {
  const [limit] = [...short].sort(byReset)
  return limit ? { refused: 'BUDGET', limit, short } : null
}

/** Sorts limits by their end, the latest first: until then no call passes. */
const byReset = (a: SpendLimitRow, b: SpendLimitRow): number => lastsUntil(b) - lastsUntil(a)
const lastsUntil = ({ period, since }: SpendLimitRow): number => resetsAt(period, since)?.getTime() ?? Number.MAX_SAFE_INTEGER

/** An ended call, for booking. */
export interface Ended extends Counted {
  readonly model: string | null
  readonly createdAt: Date
  readonly held: readonly Held[]
  readonly attempts: readonly CallAttempt[]
  /** Part of its cost that was paid with platform credentials. */
  readonly platformMicros?: bigint | null
}

/** Amount that a provider may still charge for an accepted and unanswered request, beyond the booked one. */
export interface Unclear {
  readonly model: string
  /** Amount in whole micro-dollars. */
  readonly micros: bigint
  /** Whether it was called with a platform credential. */
  readonly isOnPlatform?: boolean
}

/**
 * Returns what ended calls cost in a limit: all of it, or the part of platform credentials or of the limit's model,
 * unanswered attempts included.
 */
function costIn(limit: SpendLimitRow, call: Ended, costMicros: bigint): bigint {
  if (limit.scopeType === 'PLATFORM_CREDENTIALS') return countsIn(limit, call, null) ? (call.platformMicros ?? 0n) : 0n
  if (limit.scopeType !== 'MODEL') return countsIn(limit, call, null) ? costMicros : 0n
  if (!countsIn(limit, call, limit.scopeValue)) return 0n
  const unanswered = sumOf(call.attempts)
  const own = sumOf(call.attempts.filter(({ model }) => model === limit.scopeValue))
  return call.model === limit.scopeValue && costMicros > unanswered ? costMicros - unanswered + own : own
}

const sumOf = (attempts: readonly CallAttempt[]): bigint => attempts.reduce((sum, { costMicros }) => sum + BigInt(costMicros ?? 0), 0n)

/** Changes of limits at a call's end. */
export interface Booked {
  /** Changed limits. */
  readonly limits: readonly SpendLimitRow[]
  /** The part of the reservation that stays. */
  readonly pending: readonly Held[]
}

/**
 * Books the cost of a call in its limits and releases its reservation, except what may still be charged. It counts in
 * the period in which it began, and not at all once that is over. A cost above the reservation is booked as overdrawn.
 * @param limits those that apply to it or hold a reservation for it, in their present state
 */
export function book(limits: readonly SpendLimitRow[], call: Ended, costMicros: bigint, unclear: readonly Unclear[] = []): Booked {
  const held = new Map(call.held.map(each => [each.limitId, each]))
  const pending: Held[] = []
  const changed = limits.flatMap(limit => {
    const own = held.get(limit.id)
    const isIn = own ? own.since === limit.since.toISOString() : beganIn(limit, call.createdAt)
    if (!isIn) return []
    const cost = costIn(limit, call, costMicros)
    const released = own ? BigInt(own.micros) : 0n
    if (cost === 0n && released === 0n) return []
    const open = unclear
      .filter(each => !isPartial(limit) || countsCandidate(limit, { ...each, upperMicros: null }))
      .reduce((sum, { micros }) => sum + micros, 0n)
    const stays = least(open, most(0n, released - cost))
    if (own && stays > 0n) pending.push({ ...own, micros: `${stays}` })
    return [overdrawn({ ...limit, spentMicros: limit.spentMicros + cost, reservedMicros: limit.reservedMicros - released + stays })]
  })
  return { limits: changed, pending }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Releases reservations in the limits' present periods. @returns changed limits */
export const release = (limits: readonly SpendLimitRow[], held: readonly Held[]): readonly SpendLimitRow[] =>
  limits.flatMap(limit => {
    const own = held.find(({ limitId, since }) => limitId === limit.id && since === limit.since.toISOString())
    return own ? [overdrawn({ ...limit, reservedMicros: limit.reservedMicros - BigInt(own.micros) })] : []
  })

/**
 * Raises a running call's reservation to an amount, in all limits with one except those of models, or in none.
 * @param limits those with a reservation for it, in their present state
 * @returns null where a limit does not cover it
 */
export function raise(
  limits: readonly SpendLimitRow[],
  held: readonly Held[],
  micros: bigint,
): { readonly limits: readonly SpendLimitRow[]; readonly held: readonly Held[] } | null {
  const changed: SpendLimitRow[] = []
  const raised = held.map((own): Held => {
    const limit = limits.find(({ id }) => id === own.limitId)
    const more = micros - BigInt(own.micros)
    if (!limit || limit.scopeType === 'MODEL' || own.since !== limit.since.toISOString() || more <= 0n) return own
    changed.push({ ...limit, reservedMicros: limit.reservedMicros + more })
    return { ...own, micros: `${micros}` }
  })
  return changed.some(limit => (remainingOf(limit) ?? 0n) < 0n) ? null : { limits: changed, held: raised }
}

const beganIn = ({ period, since, createdAt }: SpendLimitRow, callCreatedAt: Date): boolean =>
  period === 'TOTAL' ? callCreatedAt >= createdAt : sinceOf(period, callCreatedAt, createdAt).getTime() === since.getTime()

/** Records by how much a limit was exceeded. */
export function overdrawn(limit: SpendLimitRow): SpendLimitRow {
  const remaining = remainingOf(limit)
  const over = remaining === null || remaining >= 0n ? 0n : -remaining
  return over === limit.overdrawnMicros ? limit : { ...limit, overdrawnMicros: over }
}

const percent = { PERCENT_50: 50n, PERCENT_80: 80n, PERCENT_95: 95n, EXHAUSTED: 100n } as const

/** All alerts that a limit can send in a period. */
export const alertKinds: readonly SpendAlertKind[] = ['SOFT', ...(Object.keys(percent) as (keyof typeof percent)[])]

/** The alerts that have come due, each once a period. EXHAUSTED also comes due with a refused call. */
export function dueAlerts({ alerts, hardLimitMicros, softLimitMicros, spentMicros }: SpendLimitRow, hasRefused = false): readonly SpendAlertKind[] {
  const reached: SpendAlertKind[] = []
  if (softLimitMicros !== null && spentMicros >= softLimitMicros && spentMicros > 0n) reached.push('SOFT')
  if (hardLimitMicros !== null && hardLimitMicros > 0n)
    for (const [kind, share] of Object.entries(percent)) if (spentMicros * 100n >= hardLimitMicros * share) reached.push(kind as SpendAlertKind)
  if (hasRefused && !reached.includes('EXHAUSTED')) reached.push('EXHAUSTED')
  return reached.filter(kind => !alerts.some(each => each.kind === kind))
}

/**
 * Returns the attention that a limit's figures alone require. A limit of 0 without spending is intended until it
 * rejects a call.
 */
export function attentionOf({ hardLimitMicros, spentMicros }: SpendLimitRow): BudgetAttention | null {
  if (hardLimitMicros === null || (hardLimitMicros === 0n && spentMicros === 0n)) return null
  if (spentMicros >= hardLimitMicros) return 'BUDGET_EXHAUSTED'
  return spentMicros * 100n >= hardLimitMicros * 80n ? 'BUDGET_NEAR_LIMIT' : null
}

/**
 * Returns a limit with due alerts and attention. An exhausted limit stays so for its period: a smaller call that passes
 * later changes nothing for the rejected one.
 * @param hasRefused whether it has just rejected a call
 */
export function alerted(limit: SpendLimitRow, now: Date, hasRefused = false): SpendLimitRow {
  const due = dueAlerts(limit, hasRefused)
  const attention = hasRefused || limit.attention === 'BUDGET_EXHAUSTED' ? 'BUDGET_EXHAUSTED' : attentionOf(limit)
  if (due.length === 0 && attention === limit.attention) return limit
  const at = now.toISOString()
  return { ...limit, attention, alerts: [...limit.alerts, ...due.map((kind): SpendAlert => ({ kind, at }))] }
}

/**
 * Returns a limit with other settings. When its hard limit is raised or removed, attention follows the figures from
 * then on.
 */
export function changed(limit: SpendLimitRow, settings: Partial<SpendLimitRow>, now: Date): SpendLimitRow {
  const present = asOf(limit, now)
  const next = { ...present, ...settings }
  const isRaised = next.hardLimitMicros === null || (present.hardLimitMicros !== null && next.hardLimitMicros > present.hardLimitMicros)
  return alerted(overdrawn(isRaised ? { ...next, attention: null } : next), now)
}
