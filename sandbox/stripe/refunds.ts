import { amountIn, currencyIn, partIn } from './amounts.ts'
import { behaviourOf } from './cards.ts'
import { heldBy } from './disputes/disputes.ts'
import type { Form } from './form.ts'
import type { Objects, StripeObject } from './objects.ts'
import { invalid, notNow } from './problems.ts'

/** The accounts that money can be moved to. */
export const connectedAccounts: readonly string[] = ['acct_demo', 'acct_demo_second']

/** After how many seconds a refund that takes its time is through, or has failed. */
const settles = 2

const reasons = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

export function createRefund(objects: Objects, form: Form): StripeObject {
  const [ofIntent, ofCharge] = [form.text('payment_intent'), form.text('charge')]
  if (!ofIntent && !ofCharge) throw invalid('One of the following params should be provided for this request: payment_intent or charge.')
  const intent = ofIntent ? objects.find('payment_intent', ofIntent, 'payment_intent') : null
  if (intent && !intent.latest_charge) throw notNow(`This PaymentIntent (${ofIntent}) does not have a successful charge to refund.`, 'charge_not_found')
  const charge = objects.find('charge', intent ? intent.latest_charge : ofCharge!, 'charge')
  if (heldBy(objects, charge.id)) throw notNow(`Charge ${charge.id} has been charged back; cannot issue a refund.`, 'charge_disputed')
  const left = charge.amount_captured - charge.amount_refunded
  if (left <= 0)
    throw notNow(`Charge ${charge.id} has ${charge.amount_captured > 0 ? 'already been refunded' : 'not been captured'}.`, 'charge_already_refunded')
  const amount = partIn(form, 'amount', left, charge.currency, asked =>
    notNow(`Refund amount (${asked}) is greater than unrefunded amount on charge (${left})`, 'amount_too_large', { param: 'amount' }),
  )
  const [reason, metadata] = [form.oneOf('reason', reasons) ?? null, form.names('metadata') ?? {}]
  form.end()
  objects.change(charge, { amount_refunded: charge.amount_refunded + amount, refunded: charge.amount_refunded + amount === charge.amount_captured })
  const way = behaviourOf(objects.find('payment_method', charge.payment_method, null)).refunds
  return objects.add('refund', {
    ...{ amount, currency: charge.currency, charge: charge.id, payment_intent: charge.payment_intent, reason, metadata },
    ...{ balance_transaction: null, receipt_number: null, source_transfer_reversal: null, transfer_reversal: null },
    status: way === 'pending' ? 'pending' : 'succeeded',
  })
}

/** A refund as it stands at this moment. */
export function refundNow(objects: Objects, refund: StripeObject): StripeObject {
  if (objects.now() - refund.created < settles) return refund
  const charge = objects.find('charge', refund.charge, null)
  const way = behaviourOf(objects.find('payment_method', charge.payment_method, null)).refunds
  if (refund.status === 'pending') return objects.change(refund, { status: 'succeeded' })
  return way === 'fails' && refund.status === 'succeeded' ? failRefund(objects, refund) : refund
}

/** A refund that the payer's bank did not take. */
export function failRefund(objects: Objects, refund: StripeObject): StripeObject {
  const charge = objects.find('charge', refund.charge, null)
  // The amount of a failed refund can be refunded again.
  objects.change(charge, { amount_refunded: charge.amount_refunded - refund.amount, refunded: false })
  return objects.change(refund, { status: 'failed', failure_reason: 'expired_or_canceled_card' })
}

const withReversals = (transfer: StripeObject, objects: Objects) => {
  const data = objects.all('transfer_reversal').filter(reversal => reversal.transfer === transfer.id)
  return { ...transfer, reversals: { object: 'list', data: data.slice(0, 10), has_more: data.length > 10, url: `/v1/transfers/${transfer.id}/reversals` } }
}

export const shownTransfer = (objects: Objects, transfer: StripeObject): object => withReversals(transfer, objects)

export function createTransfer(objects: Objects, form: Form): object {
  const currency = currencyIn(form)
  const amount = amountIn(form, 'amount', currency)
  const destination = form.need('destination')
  if (!connectedAccounts.includes(destination)) throw invalid(`No such destination: '${destination}'`, 'destination', 'resource_missing')
  const fields = {
    description: form.text('description') ?? null,
    transfer_group: form.text('transfer_group') ?? null,
    source_transaction: form.text('source_transaction') ?? null,
    metadata: form.names('metadata') ?? {},
  }
  form.end()
  const transfer = objects.add('transfer', { ...fields, amount, currency, destination, amount_reversed: 0, reversed: false, balance_transaction: null })
  const entry = objects.add('balance_transaction', {
    ...booked(-amount, currency, objects),
    type: 'transfer',
    reporting_category: 'transfer',
    source: transfer.id,
  })
  return withReversals(objects.change(transfer, { balance_transaction: entry.id }), objects)
}

export function reverseTransfer(objects: Objects, id: string, form: Form): StripeObject {
  const transfer = objects.find('transfer', id, null)
  const left = transfer.amount - transfer.amount_reversed
  const amount = partIn(form, 'amount', left, transfer.currency, () =>
    notNow('The reversal amount is greater than the amount that can be reversed of this transfer.', 'amount_too_large', { param: 'amount' }),
  )
  const [metadata] = [form.names('metadata') ?? {}, form.text('description')]
  form.end()
  const { currency } = transfer
  const reversal = objects.add('transfer_reversal', {
    ...{ amount, currency, metadata, transfer: id, balance_transaction: null, destination_payment_refund: null, source_refund: null },
  })
  // The event of it shows the transfer with its reversals.
  objects.change(transfer, { amount_reversed: transfer.amount_reversed + amount, reversed: amount === left })
  const entry = objects.add('balance_transaction', {
    ...booked(amount, currency, objects),
    ...{ type: 'transfer_refund', reporting_category: 'transfer_reversal', source: reversal.id },
  })
  return objects.change(reversal, { balance_transaction: entry.id })
}

const booked = (amount: number, currency: string, objects: Objects) => ({
  ...{ amount, net: amount, currency, fee: 0, fee_details: [], status: 'available', exchange_rate: null, description: null },
  ...{ available_on: objects.now(), balance_type: 'payments' },
})
