import type { Form } from './form.ts'
import type { Objects, StripeObject } from './objects.ts'
import { invalid, StripeProblem } from './problems.ts'

/** How a played card behaves. */
interface Behaviour {
  readonly brand?: string
  readonly last4?: string
  /** What its issuer says against a charge. */
  readonly declines?: readonly [code: string, decline: string | null, message: string]
  /** Whether it is kept for a customer all the same. */
  readonly attaches?: true
  readonly refunds?: 'pending' | 'fails'
  readonly isDisputed?: true
  readonly asks?: true
}

const declined = 'Your card was declined.'

/** The payment methods for tests that Stripe knows by name (https://docs.stripe.com/testing). */
const cards: Readonly<Record<string, Behaviour>> = {
  pm_card_visa: {},
  pm_card_mastercard: { brand: 'mastercard', last4: '4444' },
  pm_card_amex: { brand: 'amex', last4: '0005' },
  pm_card_visa_chargeDeclined: { last4: '0002', declines: ['card_declined', 'generic_decline', declined] },
  pm_card_visa_chargeDeclinedInsufficientFunds: { last4: '9995', declines: ['card_declined', 'insufficient_funds', 'Your card has insufficient funds.'] },
  pm_card_visa_chargeDeclinedLostCard: { last4: '9987', declines: ['card_declined', 'lost_card', declined] },
  pm_card_visa_chargeDeclinedStolenCard: { last4: '9979', declines: ['card_declined', 'stolen_card', declined] },
  pm_card_chargeDeclinedExpiredCard: { last4: '0069', declines: ['expired_card', null, 'Your card has expired.'] },
  pm_card_chargeDeclinedIncorrectCvc: { last4: '0127', declines: ['incorrect_cvc', null, 'Your card’s security code is incorrect.'] },
  pm_card_chargeDeclinedProcessingError: {
    last4: '0119',
    declines: ['processing_error', null, 'An error occurred while processing your card. Try again in a little bit.'],
  },
  pm_card_chargeCustomerFail: { last4: '0341', declines: ['card_declined', 'generic_decline', declined], attaches: true },
  pm_card_threeDSecure2Required: { last4: '3220', asks: true },
  // This card asks for authentication at every payment, also after a setup (https://docs.stripe.com/testing#regulatory-cards).
  pm_card_authenticationRequired: { last4: '3184', asks: true },
  pm_card_createDispute: { last4: '0259', isDisputed: true },
  pm_card_pendingRefund: { last4: '7726', refunds: 'pending' },
  pm_card_refundFail: { last4: '5126', refunds: 'fails' },
}
// Names without the brand mean the same cards.
const nameOf = (name: string): string => (Object.hasOwn(cards, name) ? name : name.replace(/^pm_card_charge/, 'pm_card_visa_charge'))

/** How a payment method behaves: `played` is the name for tests that it was made of. */
export const behaviourOf = (method: StripeObject): Behaviour => cards[method.played as string] ?? {}

/** A payment method as clients see it. */
export const shownMethod = ({ played, ...method }: StripeObject) => method

/** The payment method of an id, or a new one by a name for tests. */
export function methodBy(objects: Objects, id: string, param: string | null): StripeObject {
  const name = nameOf(id)
  if (!Object.hasOwn(cards, name)) return objects.find('payment_method', id, param)
  const { brand = 'visa', last4 = '4242' } = cards[name]!
  const card = { brand, last4, exp_month: 12, exp_year: 2044, country: 'US', funding: 'credit', fingerprint: null, checks: null, networks: null, wallet: null }
  return objects.add('payment_method', { type: 'card', card, customer: null, billing_details: {}, metadata: {}, played: name })
}

/** What is said of a charge that the card's issuer refuses; null when it does not. */
export function declineOf(method: StripeObject): { readonly code: string; readonly decline_code?: string; readonly message: string } | null {
  const { declines } = behaviourOf(method)
  if (!declines) return null
  const [code, decline, message] = declines
  return { code, message, ...(decline && { decline_code: decline }) }
}

export function attach(objects: Objects, id: string, form: Form): object {
  const customer = objects.find('customer', form.need('customer'), 'customer')
  form.end()
  const method = methodBy(objects, id, null)
  if (method.customer === customer.id) return shownMethod(method)
  if (method.customer !== null)
    throw invalid('The payment method you provided has already been attached to a customer.', undefined, 'payment_method_unexpected_state')
  const decline = behaviourOf(method).attaches ? null : declineOf(method)
  if (decline) throw new StripeProblem(402, { type: 'card_error', ...decline })
  return shownMethod(objects.change(method, { customer: customer.id }))
}

export function changeMethod(objects: Objects, id: string, form: Form): object {
  const method = objects.find('payment_method', id, null)
  const metadata = form.names('metadata')
  form.end()
  if (method.customer === null) throw invalid('You must save this PaymentMethod to a customer before you can update it.')
  return shownMethod(objects.change(method, { metadata: { ...method.metadata, ...metadata } }))
}

export function detach(objects: Objects, id: string, form: Form): object {
  form.end()
  const method = objects.find('payment_method', id, null)
  if (method.customer === null)
    throw invalid('The payment method you provided is not attached to a customer so detachment is impossible.', undefined, 'payment_method_unexpected_state')
  return shownMethod(objects.change(method, { customer: null }))
}

export function createCustomer(objects: Objects, form: Form): StripeObject {
  const [email, name] = [form.text('email') ?? null, form.text('name') ?? null]
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email)) throw invalid(`Invalid email address: ${email}`, 'email', 'email_invalid')
  const fields = { description: form.text('description') ?? null, phone: form.text('phone') ?? null, metadata: form.names('metadata') ?? {} }
  form.end()
  return objects.add('customer', { email, name, ...fields, address: null, balance: 0, currency: null, delinquent: false, tax_exempt: 'none' })
}
