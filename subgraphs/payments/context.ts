import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import type { Pages } from './engines/checkout/processor.ts'
import type { EvidenceProcessor } from './engines/dispute/processor.ts'
import type { Mailer } from './engines/invoicing/mail/send.ts'
import type { Printer } from './engines/invoicing/pdf/printer.ts'
import type { Methods } from './engines/keeping/work.ts'
import type { Delivering } from './engines/outgoing/deliver.ts'
import type { Processor } from './engines/payment/processor.ts'
import type { Underway } from './engines/payment/underway.ts'
import type { CallbackSettings, TransferProcessor } from './engines/settlement/work.ts'
import type { EventProcessing } from './engines/webhook/process.ts'
import { auditEntryStore } from './stores/admin/audit-entry.ts'
import { settingsStore } from './stores/admin/settings.ts'
import { paymentLinkStore } from './stores/checkout/link.ts'
import { checkoutSessionStore } from './stores/checkout/session.ts'
import { disputeStore } from './stores/events/dispute.ts'
import { disputeFileStore } from './stores/events/dispute-file.ts'
import { webhookDeliveryStore } from './stores/events/webhook-delivery.ts'
import { webhookEndpointStore } from './stores/events/webhook-endpoint.ts'
import { webhookEventStore } from './stores/events/webhook-event.ts'
import { creditNoteStore } from './stores/invoicing/credit-note.ts'
import { invoiceStore } from './stores/invoicing/invoice.ts'
import { invoiceMailStore } from './stores/invoicing/mail.ts'
import { ledgerAccountStore, ledgerEntryStore } from './stores/ledger.ts'
import { merchantStore } from './stores/merchant.ts'
import { orderStore } from './stores/order.ts'
import { overviewStore } from './stores/overview.ts'
import { customerStore } from './stores/parties/customer.ts'
import { paymentMethodStore } from './stores/parties/payment-method.ts'
import { paymentMethodSessionStore } from './stores/parties/payment-method-session.ts'
import { venueStore } from './stores/parties/venue.ts'
import { reconciliationStore } from './stores/reconciliation.ts'
import { refundStore } from './stores/refund.ts'
import { reportStore } from './stores/report.ts'
import { settlementBatchStore } from './stores/settlement/batch.ts'
import { settlementCallbackStore } from './stores/settlement/callback.ts'
import { settlementLineStore } from './stores/settlement/line.ts'
import { transactionStore } from './stores/transaction.ts'
import { transactionTableStore } from './stores/transaction-table.ts'
import { widgetStore } from './stores/widget.ts'

/** What payments keeps, each store under the name by which resolvers and jobs know it. */
export const stores = {
  ledgerAccounts: ledgerAccountStore,
  ledgerEntries: ledgerEntryStore,
  auditEntries: auditEntryStore,
  creditNotes: creditNoteStore,
  checkoutSessions: checkoutSessionStore,
  customers: customerStore,
  disputes: disputeStore,
  disputeFiles: disputeFileStore,
  invoices: invoiceStore,
  invoiceMails: invoiceMailStore,
  merchants: merchantStore,
  orders: orderStore,
  overview: overviewStore,
  reconciliation: reconciliationStore,
  reports: reportStore,
  transactionTable: transactionTableStore,
  refunds: refundStore,
  transactions: transactionStore,
  paymentLinks: paymentLinkStore,
  paymentMethods: paymentMethodStore,
  paymentMethodSessions: paymentMethodSessionStore,
  settings: settingsStore,
  settlementBatches: settlementBatchStore,
  settlementCallbacks: settlementCallbackStore,
  settlementLines: settlementLineStore,
  venues: venueStore,
  webhookDeliveries: webhookDeliveryStore,
  webhookEndpoints: webhookEndpointStore,
  webhookEvents: webhookEventStore,
  widget: widgetStore,
}

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Orders that one caller (a person, a key) writes in 24 hours. */
  readonly ordersADay: number
}

/** What payments works with besides: made once in `definition.ts`. */
export interface Services extends Pick<Foundation, 'ask' | 'callersWay' | 'cipher' | 'clock' | 'events' | 'log' | 'outbound' | 'publicUrl'> {
  readonly processor: Processor
  readonly pages: Pages
  readonly transfers: TransferProcessor
  readonly evidence: EvidenceProcessor
  readonly methods: Methods
  /** Where the submitter of settlement batches is told of them; null: nowhere. */
  readonly callbackTarget: CallbackSettings | null
  readonly mailer: Mailer
  readonly printer: Printer
  /** Calls to the processor that outlive the request which began them. */
  readonly underway: Underway
  /** The job that delivers events to webhooks. */
  readonly outgoing: Delivering
  /** The job that processes events of the processor. */
  readonly processing: EventProcessing
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
