import type { WriteTransaction } from '../../../store/books.ts'
import type { CallAttempt, CallFamily } from '../../stores/call.ts'
import type { Unclear } from './booking.ts'

/** The account of a call: it is logged and limited under all three. */
export interface CallCaller {
  readonly organizationId: string
  readonly userId: string | null
  readonly appId: string
}

/** A candidate of a call. */
export interface CallCandidate {
  /** Name of the model; null without one. */
  readonly model: string | null
  readonly provider: string
  /** Maximum cost in whole micro-dollars; null without a known price. */
  readonly upperMicros: bigint | null
  /** Whether it uses a platform credential, as far as known at the begin. */
  readonly isOnPlatform?: boolean
}

/** The prompt as a function: a long one is built only if it is stored. */
export type Said = string | (() => string) | null | undefined

export const inWords = (said: Said): string | null => (typeof said === 'function' ? said() : (said ?? null))

/** A call that is to begin. */
export interface CallOrder {
  readonly family: CallFamily
  /** Name in the log: `chat.completions`. */
  readonly operation: string
  readonly requestedModel: string | null
  /** Candidates in the order in which they are tried. */
  readonly candidates: readonly CallCandidate[]
  /** Prompt to store and its expiry; omit to store nothing. */
  readonly prompt?: Said
  readonly promptUntil?: Date | null
}

/** Result of a call. */
export interface CallEnd {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED'
  readonly model: string | null
  readonly provider: string | null
  readonly inputTokens?: number | null
  readonly cachedTokens?: number | null
  readonly cacheWriteTokens?: number | null
  readonly outputTokens?: number | null
  readonly units?: number | null
  /** Cost; null without a known price. 0 where no provider did anything. */
  readonly costMicros: bigint | null
  /** Part of it paid with platform credentials. @default none */
  readonly platformMicros?: bigint | null
  /** Whether the provider reported more than the call can have used, so that less was booked. */
  readonly isDoubtful?: boolean
  readonly attempts?: readonly CallAttempt[]
  /** Amounts that may still be charged for unanswered attempts: they stay reserved for the call's 15 minutes. */
  readonly unclear?: readonly Unclear[]
  readonly firstByteMs?: number | null
  readonly latencyMs?: number | null
}

/** A running call: its possible cost is reserved until it is settled. */
export interface OpenCall {
  readonly id: string
  /** Models that may be tried, in order, without those that their own limits exclude. */
  readonly allowed: readonly string[]
  /** Whether a hard limit applies: then it must not cost more than reserved. */
  readonly isLimited: boolean
  /**
   * Raises the reservation to at least an amount in whole micro-dollars, because another model is tried while an
   * unanswered one may still charge.
   * @returns false where a spend limit does not cover it: then the reservation stays as it was
   */
  cover(micros: bigint): Promise<boolean>
  /**
   * Stores the result; the first one counts. Without one within 15 minutes the call is booked as failed, for nothing.
   * While the database is unavailable it is retried in the background.
   */
  settle(end: CallEnd): Promise<void>
}

/** A charge at a fixed price. */
export interface Charge {
  readonly family: CallFamily
  readonly operation: string
  readonly provider: string | null
  readonly units?: number | null
  /** Amount in whole micro-dollars. */
  readonly micros: bigint
}

/** The ledger of calls with their limits. */
export interface Calls {
  /**
   * Begins a call: its maximum cost is reserved in all applicable limits, or in none.
   * @throws BUDGET_EXCEEDED with `scopeType`, `resetsAt` and `callId`; FORBIDDEN, reason `model_unpriced`. The call is
   * logged as REFUSED then
   */
  begin(caller: CallCaller, order: CallOrder): Promise<OpenCall>
  /**
   * Logs a call at a fixed price as made and its cost as spent, within a transaction that may roll both back.
   * @returns the call's id
   * @throws BUDGET_EXCEEDED before anything is written
   */
  charge(caller: CallCaller, charge: Charge, unit: WriteTransaction): Promise<string>
  /**
   * Prices of a mail, a call of the payment processor, and a unit of the video network's quota, in whole micro-dollars.
   */
  readonly priceOf: Prices
}

export interface Prices {
  readonly email: bigint
  readonly payment: bigint
  readonly videoUnit: bigint
}
