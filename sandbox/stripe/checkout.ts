import type { Form } from './form.ts'
import { readForm } from './form.ts'
import { createIntent } from './intents.ts'
import type { Objects, StripeObject } from './objects.ts'
import { priceIn } from './prices.ts'
import { invalid, notNow } from './problems.ts'
import { makeSubscription } from './subscriptions.ts'

const day = 24 * 3600

const isAddress = (text: string): boolean => URL.canParse(text.replaceAll('{CHECKOUT_SESSION_ID}', 'id')) && /^https?:/.test(text)

function addressIn(form: Form, name: string): string | null {
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

/** A session as clients see it: what it is to make of a payment is nobody’s to read; past its time it is over. */
export function sessionNow(objects: Objects, session: StripeObject): object {
  const isOver = session.status === 'open' && objects.now() >= session.expires_at
  const { expects, ...shown } = isOver ? objects.change(session, { status: 'expired', url: null }) : session
  return shown
}

export function expireSession(objects: Objects, id: string, form: Form): object {
  const session = objects.find('checkout.session', id, null)
  form.end()
  if (session.status !== 'open')
    throw notNow(`Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`, 'checkout_session_unexpected_state')
  return sessionNow(objects, objects.change(session, { status: 'expired', url: null }))
}

/** The page where customers look after their subscriptions. */
export function createPortal(objects: Objects, form: Form, origin: string): object {
  const customer = objects.find('customer', form.need('customer'), 'customer')
  const back = addressIn(form, 'return_url')
  form.end()
  const id = objects.id('bps')
  const rest = { configuration: 'bpc_sandbox', flow: null, locale: null, on_behalf_of: null, livemode: false }
  return { id, object: 'billing_portal.session', created: objects.now(), customer: customer.id, return_url: back, url: `${origin}/portal/${id}`, ...rest }
}

/** Whoever opens the page of an open session has paid it with the card that always works: what was to be made of the payment stands then. */
export function paySession(objects: Objects, id: string): object {
  const session = objects.find('checkout.session', id, null)
  sessionNow(objects, session)
  const { status, mode, currency, amount_total, expects } = objects.find('checkout.session', id, null)
  if (status !== 'open') throw notNow(`This Checkout Session is ${status}.`, 'checkout_session_unexpected_state')
  const customer = session.customer ?? objects.add('customer', { email: session.customer_email, name: null, metadata: {} }).id
  const done = (made: object) => sessionNow(objects, objects.change(session, { ...made, customer, status: 'complete', url: null }))
  if (mode === 'setup') return done({ setup_intent: objects.id('seti') })
  if (mode === 'subscription') {
    const items = expects.lines.map(({ price, quantity }: { price: string; quantity: number }) => ({ price: objects.find('price', price, null), quantity }))
    return done({ subscription: makeSubscription(objects, customer, items, expects.metadata).id, payment_status: 'paid' })
  }
  const asked = new URLSearchParams({ amount: String(amount_total), currency, customer, payment_method: 'pm_card_visa', confirm: 'true' })
  for (const [name, value] of [
    ['capture_method', expects.capture_method],
    ['automatic_payment_methods[allow_redirects]', 'never'],
  ] as const)
    asked.set(name, value)
  for (const [name, value] of Object.entries<string>(expects.metadata)) asked.set(`metadata[${name}]`, value)
  return done({ payment_intent: createIntent(objects, readForm(asked.toString())).id, payment_status: 'paid' })
}
