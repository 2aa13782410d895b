import type { Ask } from '../../platform/ask.ts'
import {
  CapturePaymentDocument,
  ChargePaymentDocument,
  PaymentAtProcessorDocument,
  RefundAtProcessorDocument,
  RefundPaymentDocument,
  VoidPaymentDocument,
} from './ask.generated.ts'
import { answerMs, type Processor } from './engines/payment/processor.ts'
import { registration } from './registration.ts'

/** Asks for the organization, with what the service itself may do, because no person and no key has the scope for the processor. */
export const forOrganization = (organizationId: string) => ({
  appId: registration.appId,
  viewer: { userId: null, organizationId, roles: [], scopes: registration.asks, context: 'organization' as const },
  patienceMs: answerMs,
})

/** The payment processor by the gateway to providers, to which nothing else of payments speaks. */
export const processorBy = (ask: Ask): Processor => ({
  async charge({ organizationId, key: idempotencyKey, amountMinor, currency, metadata, paymentMethod: paymentMethodId, isHeld }) {
    const captureMethod = isHeld ? ('MANUAL' as const) : ('AUTOMATIC' as const)
    const amount = { amountMinor: String(amountMinor), currency }
    const input = { amount, paymentMethodId, captureMethod, confirm: true, metadata, idempotencyKey }
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
