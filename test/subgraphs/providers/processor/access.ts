import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, change, constant, type FieldRow, type RouteRow, row, services } from '../../../access/row.ts'

const invoke: readonly Scope[] = ['providers:service.invoke']
const usage: readonly Scope[] = ['providers:usage.read']

/** Nobody of these is a service: who has the scope all the same comes as far as the operation, and no further. */
const nobody = 'refused denied refused refused refused denied denied'

const query = (name: string, ask: string): FieldRow => row(`Query.${name}`, invoke, usage, nobody, constant(`{ ${name}${ask} }`), name)
const mutation = (name: string, input: string): FieldRow =>
  row(
    `Mutation.${name}`,
    invoke,
    usage,
    nobody,
    change(name, () => `${input}, idempotencyKey: "k"`, 'id'),
    name,
  )

/** A field of what only a mutation answers. */
const answered = (at: string, name: string, input: string, selection: string): FieldRow =>
  row(
    at,
    invoke,
    usage,
    nobody,
    change(name, () => `${input}, idempotencyKey: "k"`, selection),
    `${name}.${at.split('.')[1]}`,
  )

const amount = 'amount: { amountMinor: 100, currency: "EUR" }'
const onePrice = 'unitAmount: { amountMinor: 100, currency: "EUR" }, productId: "prod_1"'
const money = { amountMinor: 100, currency: 'EUR' }

const read = (path: string): RouteRow => ({
  at: `GET /providers/api/payments/${path}/:id`,
  scopes: invoke,
  less: usage,
  cells: services,
  path: () => `/providers/api/payments/${path}/x_1`,
})
const write = (path: string, body: object, method = 'POST'): RouteRow => ({
  ...{ at: `${method} /providers/api/payments/${path}`, scopes: invoke, less: usage, cells: services },
  path: () => `/providers/api/payments/${path.replace(':id', 'x_1')}`,
  body: () => body,
})

export const access: AccessRows = {
  fields: [
    query('processorPaymentIntent', '(id: "pi_1") { id }'),
    query('processorSubscription', '(id: "sub_1") { id }'),
    query('processorCheckoutSession', '(id: "cs_1") { id }'),
    query('processorRefund', '(id: "re_1") { id }'),
    query('processorTransfer', '(id: "tr_1") { id }'),
    query('processorInvoicePreview', '(input: { customerId: "cus_1" }) { total { currency } }'),
    query('processorRecords', '(since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z") { nodes { id } }'),
    mutation('createProcessorPrice', onePrice),
    mutation('changeProcessorSubscriptionQuantity', 'subscriptionId: "sub_1", itemId: "si_1", quantity: 1'),
    mutation('createProcessorCustomer', 'name: "A"'),
    mutation('attachProcessorPaymentMethod', 'customerId: "cus_1", paymentMethodId: "pm_1"'),
    mutation('detachProcessorPaymentMethod', 'id: "pm_1"'),
    mutation('createProcessorCheckoutSession', 'mode: SETUP, successUrl: "https://example.test"'),
    mutation('expireProcessorCheckoutSession', 'id: "cs_1"'),
    mutation('createProcessorPortalSession', 'customerId: "cus_1", returnUrl: "https://example.test"'),
    mutation('createProcessorPaymentIntent', amount),
    mutation('captureProcessorPaymentIntent', 'id: "pi_1"'),
    mutation('cancelProcessorPaymentIntent', 'id: "pi_1"'),
    mutation('createProcessorRefund', 'paymentIntentId: "pi_1"'),
    mutation('createProcessorFile', 'name: "a.pdf", contentType: "application/pdf", content: "JVBERg=="'),
    mutation('updateProcessorDispute', 'id: "du_1", text: "A"'),
    mutation('closeProcessorDispute', 'id: "du_1"'),
    mutation('createProcessorTransfer', `${amount}, destinationAccountId: "acct_1"`),
    mutation('reverseProcessorTransfer', 'id: "tr_1"'),
    answered('ProcessorPrice.unitAmount', 'createProcessorPrice', onePrice, 'unitAmount { currency }'),
    answered('ProcessorPrice.recurring', 'createProcessorPrice', onePrice, 'recurring { interval }'),
    answered('ProcessorTransferReversal.amount', 'reverseProcessorTransfer', 'id: "tr_1"', 'amount { currency }'),
  ],
  routes: [
    read('payment-intents'),
    read('subscriptions'),
    read('checkout-sessions'),
    read('refunds'),
    read('transfers'),
    {
      ...{ at: 'GET /providers/api/payments/records', scopes: invoke, less: usage, cells: services },
      path: () => '/providers/api/payments/records?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z',
    },
    write('prices', { unitAmount: money, productId: 'prod_1' }),
    write('subscriptions/:id', { itemId: 'si_1', quantity: 1 }, 'PUT'),
    write('invoice-previews', { customerId: 'cus_1' }),
    write('customers', { name: 'A' }),
    write('customers/:id/payment-methods', { paymentMethodId: 'pm_1' }),
    write('checkout-sessions', { mode: 'setup', successUrl: 'https://example.test' }),
    write('checkout-sessions/:id/expire', {}),
    write('portal-sessions', { customerId: 'cus_1', returnUrl: 'https://example.test' }),
    write('payment-intents', { amount: money }),
    write('payment-intents/:id/capture', {}),
    write('payment-intents/:id/cancel', {}),
    write('refunds', { paymentIntentId: 'pi_1' }),
    write('files', { name: 'a.pdf', contentType: 'application/pdf', content: 'JVBERg==' }),
    write('disputes/:id', { text: 'A' }, 'PUT'),
    write('disputes/:id/close', {}),
    write('transfers', { amount: money, destinationAccountId: 'acct_1' }),
    write('transfers/:id/reversals', {}),
  ],
}
