import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Events } from '../../../../platform/events.ts'
import type { Viewer } from '../../../viewer.ts'
import type { PaymentLinks } from '../../stores/checkout/link.ts'
import type { CheckoutSessions } from '../../stores/checkout/session.ts'
import type { Invoices } from '../../stores/invoicing/invoice.ts'
import type { InvoiceMails } from '../../stores/invoicing/mail.ts'
import type { Merchants } from '../../stores/merchant.ts'
import type { Orders } from '../../stores/order.ts'
import type { Refunds } from '../../stores/refund.ts'
import type { Transactions } from '../../stores/transaction.ts'
import type { LedgerWriting } from '../ledger/post.ts'
import type { Announcing } from '../outgoing/announce.ts'
import type { Processor } from './processor.ts'
import type { Underway } from './underway.ts'

/** What payments are carried out with: everybody's rows, or those that a viewer may see. */
export interface PaymentWork extends LedgerWriting, Announcing {
  readonly merchants: Merchants
  readonly orders: Orders
  readonly transactions: Transactions
  readonly refunds: Refunds
  readonly invoices: Invoices
  readonly checkoutSessions: CheckoutSessions
  readonly paymentLinks: PaymentLinks
  readonly invoiceMails: InvoiceMails
  readonly processor: Processor
  readonly underway: Underway
  readonly events: Events
  readonly clock: Clock
  readonly log: Logger
  /** Origin under which people reach the platform. */
  readonly publicUrl: string
  /** For how long an answer waits for the processor, in ms. */
  readonly answersWithinMs: number
}

/** The same for somebody who asks. */
export interface PaymentRequest extends PaymentWork {
  readonly viewer: Viewer
}
