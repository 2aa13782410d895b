import type { Unit } from '../../../store/books.ts'
import type { CallAttempt, CallFamily } from '../../stores/call.ts'
import type { Unclear } from './booking.ts'

/** In whose name a call is made: it is logged and limited under all three. */
export interface CallCaller {
  readonly organizationId: string
  readonly userId: string | null
  readonly appId: string
}

/** What may answer a call. */
export interface CallCandidate {
  /** Null where no model answers. */
  readonly model: string | null
  readonly provider: string
  /** What it costs at most in whole micro-dollars; null: nobody knows a price. */
  readonly upperMicros: bigint | null
  /** Whether it is called with a credential of the platform, as far as is known when the call begins. */
  readonly isOnPlatform?: boolean
}

/** The prompt as a function: a long one is put together only if it is stored. */
export type Said = string | (() => string) | null | undefined

export const inWords = (said: Said): string | null => (typeof said === 'function' ? said() : (said ?? null))

/** A call that is to begin. */
export interface CallOrder {
  readonly family: CallFamily
  /** `chat.completions` */
  readonly operation: string
  readonly requestedModel: string | null
  /** In the order in which they are tried. */
  readonly candidates: readonly CallCandidate[]
  /** Prompt to store and its expiry; omit to store nothing. */
  readonly prompt?: Said
  readonly promptUntil?: Date | null
}

/** What became of a call. */
export interface CallEnd {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED'
  readonly model: string | null
  readonly provider: string | null
  readonly inputTokens?: number | null
  readonly cachedTokens?: number | null
  readonly cacheWriteTokens?: number | null
  readonly outputTokens?: number | null
  readonly units?: number | null
  /** Null: nobody knows a price. Where no provider did anything it is 0. */
  readonly costMicros: bigint | null
  /** What of it was paid with credentials of the platform; left out, nothing. */
  readonly platformMicros?: bigint | null
  /** Whether the provider reported more than the call can have used, so that less was booked. */
  readonly isDoubtful?: boolean
  readonly attempts?: readonly CallAttempt[]
  /** What may still be charged for attempts that were never answered: it stays held until the 15 minutes of the call are over. */
  readonly unclear?: readonly Unclear[]
  readonly firstByteMs?: number | null
  readonly latencyMs?: number | null
}

/** A call that has begun: what it may cost is held for it until it is settled. */
export interface OpenCall {
  readonly id: string
  /** The models that may be tried, in order: those that limits of their own leave out are missing. */
  readonly allowed: readonly string[]
  /** Whether a hard limit counts it: then it must not cost more than was held. */
  readonly isLimited: boolean
  /**
   * Holds at least so much from now on, in whole micro-dollars, because another model is tried while one that never answered may still charge.
   * @returns false where a spend limit does not cover it: then what was held stays as it was
   */
  cover(micros: bigint): Promise<boolean>
  /**
   * Says what became of it; the first word counts. What is not said within 15 minutes is booked as failed, for nothing. Where the database
   * cannot write it, that is done as soon as it can, and nobody waits for it.
   */
  settle(end: CallEnd): Promise<void>
}

/** Something at a fixed price. */
export interface Charge {
  readonly family: CallFamily
  readonly operation: string
  readonly provider: string | null
  readonly units?: number | null
  /** In whole micro-dollars. */
  readonly micros: bigint
}

/** The record of calls, and the limits that they are held to. */
export interface Calls {
  /**
   * Begins a call: what it may cost at most is held in every limit that it counts in, or in none.
   * @throws BUDGET_EXCEEDED with `scopeType`, `resetsAt` and `callId`; FORBIDDEN, reason `model_unpriced`. The call is on record as REFUSED then
   */
  begin(caller: CallCaller, order: CallOrder): Promise<OpenCall>
  /**
   * Records a call at a fixed price as made, and what it costs as spent, within a transaction: where that is undone, so are both.
   * @returns the call's id
   * @throws BUDGET_EXCEEDED before anything is written
   */
  charge(caller: CallCaller, charge: Charge, unit: Unit): Promise<string>
  /** What is paid for a mail, a call of a payment processor, a unit of a video network's quota: whole micro-dollars. */
  readonly priceOf: Prices
}

export interface Prices {
  readonly email: bigint
  readonly payment: bigint
  readonly videoUnit: bigint
}
