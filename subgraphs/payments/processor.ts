import type { Ask } from '../../platform/ask.ts'
import {
  AcceptDisputeDocument,
  CapturePaymentDocument,
  ChargePaymentDocument,
  CheckoutPageDocument,
  CloseCheckoutPageDocument,
  KeepEvidenceFileDocument,
  OpenCheckoutPageDocument,
  PaymentAtProcessorDocument,
  RefundAtProcessorDocument,
  RefundPaymentDocument,
  ReverseTransferDocument,
  SubmitEvidenceDocument,
  TransferMoneyDocument,
  VoidPaymentDocument,
} from './ask.generated.ts'
import type { Pages } from './engines/checkout/processor.ts'
import type { AnsweredDispute, EvidenceProcessor } from './engines/dispute/processor.ts'
import { answerMs, type Processor } from './engines/payment/processor.ts'
import type { TransferProcessor } from './engines/settlement/work.ts'
import { registration } from './registration.ts'

/** Asks for the organization, with what the service itself may do, because no person and no key has the scope for the processor. */
export const forOrganization = (organizationId: string) => ({
  appId: registration.appId,
  viewer: { userId: null, organizationId, roles: [], scopes: registration.asks, context: 'organization' as const },
  timeoutMs: answerMs,
})

/** The payment processor by the gateway to providers, to which nothing else of payments speaks. */
export const processorBy = (ask: Ask): Processor => ({
  async charge({ organizationId, key: idempotencyKey, amountMinor, currency, metadata, paymentMethod: paymentMethodId, customer: customerId, isHeld }) {
    const captureMethod = isHeld ? ('MANUAL' as const) : ('AUTOMATIC' as const)
    const amount = { amountMinor: String(amountMinor), currency }
    const input = { amount, paymentMethodId, ...(customerId && { customerId }), captureMethod, confirm: true, metadata, idempotencyKey }
    return (await ask(ChargePaymentDocument, { input }, forOrganization(organizationId))).createProcessorPaymentIntent
  },

  async capture({ organizationId, key: idempotencyKey, amountMinor, currency, paymentId: id }) {
    const input = { id, amount: { amountMinor: String(amountMinor), currency }, idempotencyKey }
    return (await ask(CapturePaymentDocument, { input }, forOrganization(organizationId))).captureProcessorPaymentIntent
  },

  async release({ organizationId, key: idempotencyKey, paymentId: id }) {
    return (await ask(VoidPaymentDocument, { input: { id, idempotencyKey } }, forOrganization(organizationId))).cancelProcessorPaymentIntent
  },

  async refund({ organizationId, key: idempotencyKey, amountMinor, currency, metadata, paymentId: paymentIntentId, reason }) {
    const amount = { amountMinor: String(amountMinor), currency }
    // The processor has no word for any other reason.
    const input = { paymentIntentId, amount, metadata, idempotencyKey, ...(reason !== 'OTHER' && { reason }) }
    return (await ask(RefundPaymentDocument, { input }, forOrganization(organizationId))).createProcessorRefund
  },

  payment: async (organizationId, id) => (await ask(PaymentAtProcessorDocument, { id }, forOrganization(organizationId))).processorPaymentIntent,

  refundBy: async (organizationId, id) => (await ask(RefundAtProcessorDocument, { id }, forOrganization(organizationId))).processorRefund,
})

/** The processor's pages by the same gateway. */
export const pagesBy = (ask: Ask): Pages => ({
  async open({ organizationId, key: idempotencyKey, title: name, amountMinor, currency, isHeld, expiresAt, ...page }) {
    const captureMethod = isHeld ? ('MANUAL' as const) : ('AUTOMATIC' as const)
    const lineItems = [{ name, unitAmount: { amountMinor: String(amountMinor), currency } }]
    const input = { ...page, expiresAt: expiresAt.toISOString(), mode: 'PAYMENT' as const, lineItems, captureMethod, idempotencyKey }
    return (await ask(OpenCheckoutPageDocument, { input }, forOrganization(organizationId))).createProcessorCheckoutSession
  },

  async openSetup({ organizationId, key: idempotencyKey, customer: customerId, expiresAt, ...page }) {
    const input = { ...page, customerId, expiresAt: expiresAt.toISOString(), mode: 'SETUP' as const, idempotencyKey }
    return (await ask(OpenCheckoutPageDocument, { input }, forOrganization(organizationId))).createProcessorCheckoutSession
  },

  async close(organizationId, idempotencyKey, id) {
    return (await ask(CloseCheckoutPageDocument, { input: { id, idempotencyKey } }, forOrganization(organizationId))).expireProcessorCheckoutSession
  },

  read: async (organizationId, id) => (await ask(CheckoutPageDocument, { id }, forOrganization(organizationId))).processorCheckoutSession,
})

/** The same for transfers of settlement batches. */
export const transfersBy = (ask: Ask): TransferProcessor => ({
  async transfer({ organizationId, key: idempotencyKey, amountMinor, currency, metadata, payee: destinationAccountId }) {
    const input = { amount: { amountMinor: String(amountMinor), currency }, destinationAccountId, metadata, idempotencyKey }
    return (await ask(TransferMoneyDocument, { input }, forOrganization(organizationId))).createProcessorTransfer?.id ?? null
  },

  async reverse({ organizationId, key: idempotencyKey, metadata, transferId: id }) {
    return (
      (await ask(ReverseTransferDocument, { input: { id, metadata, idempotencyKey } }, forOrganization(organizationId))).reverseProcessorTransfer?.id ?? null
    )
  },
})

interface AskedDispute {
  readonly id: string
  readonly status: string | null
  readonly evidenceDueBy: string | null
}

const answered = (dispute: AskedDispute | null): AnsweredDispute | null =>
  dispute && { ...dispute, evidenceDueBy: dispute.evidenceDueBy === null ? null : new Date(dispute.evidenceDueBy) }

/** The same for disputes. */
export const evidenceBy = (ask: Ask): EvidenceProcessor => ({
  async submit({ organizationId, key: idempotencyKey, processorId: id }, { text, fileIds }) {
    const input = { id, ...(text !== null && { text }), fileIds, submit: true, idempotencyKey }
    return answered((await ask(SubmitEvidenceDocument, { input }, forOrganization(organizationId))).updateProcessorDispute)
  },

  async accept({ organizationId, key: idempotencyKey, processorId: id }) {
    return answered((await ask(AcceptDisputeDocument, { input: { id, idempotencyKey } }, forOrganization(organizationId))).closeProcessorDispute)
  },

  async keepFile({ organizationId, key: idempotencyKey, name, contentType, content }) {
    const input = { name, contentType, content: Buffer.from(content).toString('base64'), idempotencyKey }
    return (await ask(KeepEvidenceFileDocument, { input }, forOrganization(organizationId))).createProcessorFile?.id ?? null
  },
})
