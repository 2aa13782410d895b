import { declineOf, methodBy } from '../cards.ts'
import type { Form } from '../form.ts'
import { readForm } from '../form.ts'
import { confirmIntent, createIntent } from '../intents.ts'
import type { Objects, StripeObject } from '../objects.ts'
import { priceIn } from '../prices.ts'
import { invalid, notNow, StripeProblem } from '../problems.ts'
import { makeSubscription } from '../subscriptions.ts'

const day = 24 * 3600

const isAddress = (text: string): boolean => URL.canParse(text.replaceAll('{CHECKOUT_SESSION_ID}', 'id')) && /^https?:/.test(text)

/** An address of a page to go on to; null: none is named. */
export function addressIn(form: Form, name: string): string | null {
  const given = form.text(name) ?? null
  if (given !== null && !isAddress(given)) throw invalid('Not a valid URL', name, 'url_invalid')
  return given
}

/** A page where somebody pays, as Stripe makes one. @param origin where the page is shown */
export function createSession(objects: Objects, form: Form, origin: string): StripeObject {
  const mode = form.oneOf('mode', ['payment', 'subscription', 'setup'])
  if (!mode) throw invalid('Missing required param: mode.', 'mode', 'parameter_missing')
  const customer = form.text('customer') ? objects.find('customer', form.need('customer'), 'customer').id : null
  const lines = form.parts('line_items').map(line => ({ price: priceIn(objects, line), quantity: line.whole('quantity', 1) ?? 1 }))
  if (mode !== 'setup' && lines.length === 0) throw invalid('Missing required param: line_items.', 'line_items', 'parameter_missing')
  if (mode === 'setup' && lines.length > 0) throw invalid('You can not pass `line_items` in `setup` mode.', 'line_items')
  if (mode === 'payment' && lines.some(({ price }) => price.recurring))
    throw invalid('You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.', 'line_items')
  if (mode === 'subscription' && !lines.some(({ price }) => price.recurring))
    throw invalid('You must provide at least one recurring price in `subscription` mode when using prices.', 'line_items')
  const currency = lines[0]?.price.currency ?? form.text('currency') ?? null
  if (lines.some(({ price }) => price.currency !== currency)) throw invalid('All prices on a Checkout Session must use the same currency.', 'line_items')
  const expires = form.whole('expires_at') ?? objects.now() + day
  if (expires < objects.now() + 30 * 60 || expires > objects.now() + day)
    throw invalid('The `expires_at` timestamp must be at least 30 minutes and less than 24 hours from Checkout Session creation.', 'expires_at')
  const intent = form.part('payment_intent_data')
  const carried = (mode === 'payment' ? intent : mode === 'setup' ? form.part('setup_intent_data') : form.part('subscription_data'))?.names('metadata') ?? {}
  const held = intent?.oneOf('capture_method', ['automatic', 'automatic_async', 'manual']) ?? 'automatic_async'
  intent?.pass('transfer_group')
  const [success, cancel] = [addressIn(form, 'success_url'), addressIn(form, 'cancel_url')]
  const rest = {
    client_reference_id: form.text('client_reference_id') ?? null,
    customer_email: form.text('customer_email') ?? null,
    metadata: form.names('metadata') ?? {},
  }
  form.pass('customer_creation', 'payment_method_types')
  form.end()
  if (success === null) throw invalid('Missing required param: success_url.', 'success_url', 'parameter_missing')
  const total = lines.reduce((sum, { price, quantity }) => sum + price.unit_amount * quantity, 0)
  const id = objects.id('cs_test')
  return objects.add('checkout.session', {
    ...{ id, mode, customer, currency, expires_at: expires, success_url: success, cancel_url: cancel, ...rest },
    ...{ amount_subtotal: mode === 'setup' ? null : total, amount_total: mode === 'setup' ? null : total, status: 'open', ui_mode: 'hosted' },
    ...{
      payment_status: mode === 'setup' ? 'no_payment_required' : 'unpaid',
      payment_method_types: ['card'],
      payment_intent: null,
      subscription: null,
      setup_intent: null,
    },
    ...{
      url: `${origin}/checkout/${id}`,
      expects: { metadata: carried, capture_method: held, lines: lines.map(({ price, quantity }) => ({ price: price.id, quantity })) },
    },
  })
}

/** A session as clients see it: what it is to make of a payment is nobody’s to read. */
export const shownSession = ({ expects, ...shown }: StripeObject): object => shown

/** A session at this moment: past its time it is over. */
export function sessionNow(objects: Objects, session: StripeObject): object {
  const isOver = session.status === 'open' && objects.now() >= session.expires_at
  return shownSession(isOver ? objects.change(session, { status: 'expired', url: null }) : session)
}

export function expireSession(objects: Objects, id: string, form: Form): object {
  const session = objects.find('checkout.session', id, null)
  form.end()
  if (session.status !== 'open')
    throw notNow(`Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`, 'checkout_session_unexpected_state')
  return sessionNow(objects, objects.change(session, { status: 'expired', url: null }))
}

/**
 * Pays an open session with a card, or keeps the card: what was to be made of the payment stands then.
 * @throws StripeProblem 402 when the card is refused; the session stays open, and another card may pay it
 */
export function paySession(objects: Objects, id: string, card: string): StripeObject {
  const session = objects.find('checkout.session', id, null)
  const { mode, expects } = session
  const customer = session.customer ?? objects.add('customer', { email: session.customer_email, name: null, metadata: {} }).id
  const done = (made: object) => objects.change(objects.find('checkout.session', id, null), { ...made, customer, status: 'complete', url: null })
  if (mode === 'setup') return done({ setup_intent: keepCard(objects, customer, card, expects.metadata).id })
  if (mode === 'payment') return done({ payment_intent: payIntent(objects, session, customer, card).id, payment_status: 'paid' })
  checkCard(objects, card)
  const items = expects.lines.map(({ price, quantity }: { price: string; quantity: number }) => ({ price: objects.find('price', price, null), quantity }))
  return done({ subscription: makeSubscription(objects, customer, items, expects.metadata).id, payment_status: 'paid' })
}

/** @throws StripeProblem 402 when the card's issuer refuses it */
function checkCard(objects: Objects, card: string): StripeObject {
  const method = methodBy(objects, card, 'payment_method')
  const decline = declineOf(method)
  if (decline) throw new StripeProblem(402, { type: 'card_error', ...decline })
  return method
}

function keepCard(objects: Objects, customer: string, card: string, metadata: object): StripeObject {
  const method = objects.change(checkCard(objects, card), { customer })
  return objects.add('setup_intent', {
    ...{ customer, metadata, payment_method: method.id, payment_method_types: ['card'], status: 'succeeded', usage: 'off_session' },
    ...{ cancellation_reason: null, description: null, last_setup_error: null, latest_attempt: null, mandate: null, next_action: null },
  })
}

/** The intent of a session, which a refused card leaves behind for the next one. */
function payIntent(objects: Objects, session: StripeObject, customer: string, card: string): StripeObject {
  const { currency, amount_total, expects, payment_intent } = session
  const form = (fields: Record<string, string>) => readForm(new URLSearchParams(fields).toString())
  try {
    if (payment_intent !== null) return confirmIntent(objects, payment_intent, form({ payment_method: card }))
    const metadata = Object.entries<string>(expects.metadata).map(([name, value]) => [`metadata[${name}]`, value] as const)
    const asked = { amount: String(amount_total), currency, customer, payment_method: card, confirm: 'true', capture_method: expects.capture_method }
    return createIntent(objects, form({ ...asked, 'automatic_payment_methods[allow_redirects]': 'never', ...Object.fromEntries(metadata) }))
  } catch (error) {
    const intent = error instanceof StripeProblem ? (error.complaint.payment_intent as StripeObject | undefined) : undefined
    if (intent) objects.change(session, { payment_intent: intent.id, customer })
    throw error
  }
}
