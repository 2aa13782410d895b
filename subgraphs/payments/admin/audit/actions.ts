/**
 * Actions of the audit log that a mutation writes, with its name: the graph shows that name. What the platform does by itself, such as taking
 * in what happened at the processor, is shown as it is stored.
 */
export const mutations: ReadonlyMap<string, string> = new Map([
  ['merchant.created', 'createMerchant'],
  ['merchant.updated', 'updateMerchant'],
  ['merchant.suspended', 'suspendMerchant'],
  ['merchant.resumed', 'resumeMerchant'],
  ['customer.created', 'createCustomer'],
  ['customer.updated', 'updateCustomer'],
  ['customer.erased', 'eraseCustomer'],
  ['payment_method.added', 'addPaymentMethod'],
  ['payment_method.removed', 'removePaymentMethod'],
  ['payment_method.made_default', 'setDefaultPaymentMethod'],
  ['payment_settings.updated', 'updatePaymentSettings'],
  ['venue.created', 'createVenue'],
  ['venue.updated', 'updateVenue'],
  ['venue.archived', 'archiveVenue'],
  ['venue.restored', 'restoreVenue'],
  ['order.created', 'createOrder'],
  ['order.updated', 'updateOrder'],
  ['order.cancelled', 'cancelOrder'],
  ['order.cancellation_begun', 'cancelOrder'],
  ['order.payment_begun', 'payOrder'],
  ['order.capture_begun', 'captureOrder'],
  ['order.void_begun', 'voidOrder'],
  ['refund.requested', 'refundOrder'],
  ['refund.approved', 'approveRefund'],
  ['refund.rejected', 'rejectRefund'],
  ['transaction.resolved', 'resolveTransaction'],
])
