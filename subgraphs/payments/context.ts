import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import type { Processor } from './engines/payment/processor.ts'
import type { Underway } from './engines/payment/underway.ts'
import { auditEntryStore } from './stores/admin/audit-entry.ts'
import { settingsStore } from './stores/admin/settings.ts'
import { ledgerAccountStore, ledgerEntryStore } from './stores/ledger.ts'
import { merchantStore } from './stores/merchant.ts'
import { orderStore } from './stores/order.ts'
import { customerStore } from './stores/parties/customer.ts'
import { paymentMethodStore } from './stores/parties/payment-method.ts'
import { venueStore } from './stores/parties/venue.ts'
import { refundStore } from './stores/refund.ts'
import { transactionStore } from './stores/transaction.ts'
import { widgetStore } from './stores/widget.ts'

/** What payments keeps, each store under the name by which resolvers and jobs know it. */
export const stores = {
  ledgerAccounts: ledgerAccountStore,
  ledgerEntries: ledgerEntryStore,
  auditEntries: auditEntryStore,
  customers: customerStore,
  merchants: merchantStore,
  orders: orderStore,
  refunds: refundStore,
  transactions: transactionStore,
  paymentMethods: paymentMethodStore,
  settings: settingsStore,
  venues: venueStore,
  widget: widgetStore,
}

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Orders that one caller (a person, a key) writes in 24 hours. */
  readonly ordersADay: number
}

/** What payments works with besides: made once in `definition.ts`. */
export interface Services extends Pick<Foundation, 'ask' | 'clock' | 'events' | 'log' | 'publicUrl'> {
  readonly processor: Processor
  /** Calls to the processor that outlive the request which began them. */
  readonly underway: Underway
  /** For how long an answer waits for the processor, in ms. */
  readonly answersWithinMs: number
  /** What works on behalf of nobody who waits: everybody's rows, under the name of whoever caused it. */
  jobFor(actor: string): Job
  readonly quotas: Quotas
  /** Who made an API key, as identity knows it; null for a key that no person made. @param organizationId whose key it is */
  makerOf(keyId: string, organizationId: string): Promise<string | null>
  /** What people call the viewer's organization, as identity knows it. */
  nameOf(viewer: Viewer): Promise<string>
}

/** What resolvers receive: who asks, and what their organization may see. */
export type Context = ContextOf<typeof stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, Services>
