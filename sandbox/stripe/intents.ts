import { amountIn, currencyIn, partIn } from './amounts.ts'
import { behaviourOf, declineOf, methodBy, shownMethod } from './cards.ts'
import { openDispute } from './disputes/disputes.ts'
import type { Form } from './form.ts'
import type { Objects, StripeObject } from './objects.ts'
import { invalid, notNow, StripeProblem } from './problems.ts'

const captures = ['automatic', 'automatic_async', 'manual'] as const

/** The payment method of a call, which is the customer's when it is anybody's. */
function methodIn(objects: Objects, form: Form, customer: string | null): StripeObject | null {
  const id = form.text('payment_method')
  if (!id) return null
  const method = methodBy(objects, id, 'payment_method')
  if (method.customer !== null && method.customer !== customer)
    throw invalid(
      customer === null
        ? 'The provided PaymentMethod is attached to a Customer: provide that customer with it.'
        : `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
      'payment_method',
    )
  return method
}

export function createIntent(objects: Objects, form: Form): StripeObject {
  const currency = currencyIn(form)
  const amount = amountIn(form, 'amount', currency)
  const customer = form.text('customer') ? objects.find('customer', form.need('customer'), 'customer').id : null
  const captureMethod = form.oneOf('capture_method', captures) ?? 'automatic_async'
  const method = methodIn(objects, form, customer)
  const confirm = form.flag('confirm') ?? false
  const automatic = form.part('automatic_payment_methods')
  const redirects = automatic?.oneOf('allow_redirects', ['always', 'never']) ?? 'always'
  automatic?.flag('enabled')
  const returnUrl = form.text('return_url')
  const fields = {
    description: form.text('description') ?? null,
    transfer_group: form.text('transfer_group') ?? null,
    metadata: form.names('metadata') ?? {},
    setup_future_usage: form.text('setup_future_usage') ?? null,
  }
  form.flag('off_session')
  form.pass('payment_method_types')
  form.end()
  if (confirm && !method) throw notNow('You cannot confirm this PaymentIntent because it’s missing a payment method.', 'payment_intent_unexpected_state')
  if (confirm && redirects === 'always' && !returnUrl)
    throw invalid('This PaymentIntent may redirect the customer: pass a `return_url`, or set `automatic_payment_methods[allow_redirects]` to `never`.')
  const id = objects.id('pi')
  const intent = objects.add('payment_intent', {
    ...fields,
    id,
    amount,
    currency,
    customer,
    amount_capturable: 0,
    amount_received: 0,
    automatic_payment_methods: { enabled: true, allow_redirects: redirects },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: captureMethod,
    client_secret: `${id}_secret_${objects.id('s').slice(2)}`,
    confirmation_method: 'automatic',
    last_payment_error: null,
    latest_charge: null,
    next_action: null,
    payment_method: method?.id ?? null,
    payment_method_types: ['card'],
    status: method ? 'requires_confirmation' : 'requires_payment_method',
  })
  return confirm ? confirmed(objects, intent, method!) : intent
}

export function confirmIntent(objects: Objects, id: string, form: Form): StripeObject {
  const intent = objects.find('payment_intent', id, null)
  const given = methodIn(objects, form, intent.customer)
  form.pass('return_url', 'off_session')
  form.end()
  if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)) throw unexpected(intent, 'confirm')
  const method = given ?? (intent.payment_method && objects.find('payment_method', intent.payment_method, null))
  if (!method) throw notNow('You cannot confirm this PaymentIntent because it’s missing a payment method.', 'payment_intent_unexpected_state')
  return confirmed(objects, intent, method)
}

/** The result of an intent whose card is charged, or only authorized. */
function confirmed(objects: Objects, intent: StripeObject, method: StripeObject): StripeObject {
  const { amount, currency, capture_method } = intent
  const behaviour = behaviourOf(method)
  const of = { amount, currency, customer: intent.customer, payment_intent: intent.id, payment_method: method.id }
  const decline = declineOf(method)
  if (decline) {
    const charge = objects.add('charge', {
      ...of,
      status: 'failed',
      paid: false,
      captured: false,
      amount_captured: 0,
      amount_refunded: 0,
      refunded: false,
      disputed: false,
    })
    const error = { type: 'card_error' as const, ...decline, charge: charge.id, payment_method: shownMethod(method) }
    const failed = objects.change(intent, { status: 'requires_payment_method', payment_method: null, latest_charge: charge.id, last_payment_error: error })
    throw new StripeProblem(402, { ...error, payment_intent: failed })
  }
  if (behaviour.asks)
    return objects.change(intent, { status: 'requires_action', payment_method: method.id, next_action: { type: 'use_stripe_sdk', use_stripe_sdk: {} } })
  const isHeld = capture_method === 'manual'
  const charge = objects.add('charge', {
    ...of,
    status: 'succeeded',
    paid: true,
    captured: !isHeld,
    amount_captured: isHeld ? 0 : amount,
    amount_refunded: 0,
    refunded: false,
    disputed: false,
  })
  const taken = objects.change(intent, {
    status: isHeld ? 'requires_capture' : 'succeeded',
    payment_method: method.id,
    latest_charge: charge.id,
    last_payment_error: null,
    amount_capturable: isHeld ? amount : 0,
    amount_received: isHeld ? 0 : amount,
  })
  if (behaviour.isDisputed && !isHeld) openDispute(objects, charge)
  return taken
}

export function captureIntent(objects: Objects, id: string, form: Form): StripeObject {
  const intent = objects.find('payment_intent', id, null)
  if (intent.status !== 'requires_capture') throw unexpected(intent, 'capture')
  const amount = partIn(form, 'amount_to_capture', intent.amount_capturable, intent.currency, () =>
    notNow('The requested capture amount is greater than the amount you can capture for this charge.', 'amount_too_large', { param: 'amount_to_capture' }),
  )
  const metadata = form.names('metadata')
  form.end()
  const charge = objects.change(objects.find('charge', intent.latest_charge, null), { captured: true, amount_captured: amount })
  const taken = objects.change(intent, {
    ...{ status: 'succeeded', amount_capturable: 0, amount_received: amount },
    ...(metadata && { metadata: { ...intent.metadata, ...metadata } }),
  })
  if (behaviourOf(objects.find('payment_method', charge.payment_method, null)).isDisputed) openDispute(objects, charge)
  return taken
}

export function cancelIntent(objects: Objects, id: string, form: Form): StripeObject {
  const intent = objects.find('payment_intent', id, null)
  const reason = form.text('cancellation_reason') ?? null
  form.end()
  if (intent.status === 'succeeded' || intent.status === 'canceled') throw unexpected(intent, 'cancel')
  return objects.change(intent, { status: 'canceled', amount_capturable: 0, canceled_at: objects.now(), cancellation_reason: reason, next_action: null })
}

const unexpected = (intent: StripeObject, verb: string): StripeProblem =>
  notNow(`You cannot ${verb} this PaymentIntent because it has a status of ${intent.status}.`, 'payment_intent_unexpected_state', { payment_intent: intent })
