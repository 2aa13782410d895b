import type { MovementKind } from '../../stores/ledger.ts'

/** One side of a movement: positive debits the account, negative credits it. Minor units of the movement's currency. */
export interface Leg {
  readonly account: string
  readonly amountMinor: bigint
}

/** What moves, as the ledger books it: legs that sum to zero. */
export interface Booking {
  readonly kind: MovementKind
  readonly legs: readonly Leg[]
}

/** What the processor holds for the merchant. */
export const processorAccount = 'processor'
/** What the merchant is owed. */
export const merchantAccount = 'merchant'
/** What payers dispute, until it is decided. */
export const disputesAccount = 'disputes'
/** What somebody is to pay whose name the submitter of a settlement gave. */
export const payerAccount = (payer: string): string => `payer:${payer}`

/** Debits one account and credits another with the same amount. @param amountMinor above zero */
function transfer(kind: MovementKind, debited: string, credited: string, amountMinor: bigint): Booking {
  if (amountMinor <= 0n) throw new RangeError(`a movement of ${amountMinor} moves nothing`)
  return {
    kind,
    legs: [
      { account: debited, amountMinor },
      { account: credited, amountMinor: -amountMinor },
    ],
  }
}

/** Returns how each kind of movement is booked, by its amount in minor units. */
export const bookings = {
  captured: (amountMinor: bigint) => transfer('CAPTURE', processorAccount, merchantAccount, amountMinor),
  refunded: (amountMinor: bigint) => transfer('REFUND', merchantAccount, processorAccount, amountMinor),
  /** A refund that had succeeded and failed later. */
  refundFailed: (amountMinor: bigint) => transfer('REFUND_FAILED', processorAccount, merchantAccount, amountMinor),
  disputeOpened: (amountMinor: bigint) => transfer('DISPUTE_OPENED', disputesAccount, processorAccount, amountMinor),
  disputeWon: (amountMinor: bigint) => transfer('DISPUTE_WON', processorAccount, disputesAccount, amountMinor),
  disputeLost: (amountMinor: bigint) => transfer('DISPUTE_LOST', merchantAccount, disputesAccount, amountMinor),
  settled: (payer: string, amountMinor: bigint) => transfer('SETTLEMENT', payerAccount(payer), processorAccount, amountMinor),
  settlementReversed: (payer: string, amountMinor: bigint) => transfer('SETTLEMENT_REVERSED', processorAccount, payerAccount(payer), amountMinor),
} as const
