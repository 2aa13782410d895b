import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Events } from '../../../../platform/events.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { SettlementBatches } from '../../stores/settlement/batch.ts'
import type { SettlementCallbacks } from '../../stores/settlement/callback.ts'
import type { SettlementLines } from '../../stores/settlement/line.ts'
import type { Transactions } from '../../stores/transaction.ts'
import type { LedgerWriting } from '../ledger/post.ts'
import type { Announcing } from '../outgoing/announce.ts'
import type { Underway } from '../payment/underway.ts'

/** Where the submitter of batches is told of them, and with what that is signed: `whsec_…`, each of them signs. */
export interface CallbackSettings {
  readonly url: string
  readonly secrets: readonly string[]
}

/** One transfer as the processor is told of it. */
export interface TransferCall {
  readonly organizationId: string
  /** The same at each try. */
  readonly key: string
  /** In minor units of the currency. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly metadata: Readonly<Record<string, string>>
}

/** The processor's part in settlement, as the gateway to providers offers it. Each call throws what the gateway refuses it with. */
export interface TransferProcessor {
  /** Moves money to an account. @returns what the processor calls the transfer; null: it did not say */
  transfer(call: TransferCall & { readonly payee: string }): Promise<string | null>
  /** Takes back a whole transfer. @returns what the processor calls the reversal */
  reverse(call: TransferCall & { readonly transferId: string }): Promise<string | null>
}

/** What settlement is carried out with: everybody's rows, or those that a viewer may see. */
export interface SettlementWork extends LedgerWriting, Announcing {
  readonly settlementBatches: SettlementBatches
  readonly settlementLines: SettlementLines
  readonly settlementCallbacks: SettlementCallbacks
  readonly transactions: Transactions
  readonly transfers: TransferProcessor
  /** Null where no callbacks are configured: nothing is submitted then. */
  readonly callbackTarget: CallbackSettings | null
  readonly outbound: WayOut
  readonly underway: Underway
  readonly events: Events
  readonly clock: Clock
  readonly log: Logger
  /** Origin under which people reach the platform. */
  readonly publicUrl: string
}
