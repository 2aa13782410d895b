import type { Form } from '../form.ts'
import type { Objects, StripeObject } from '../objects.ts'
import { addressIn } from './checkout.ts'

/** The page where customers look after their subscriptions. @param origin where it is shown */
export function createPortal(objects: Objects, form: Form, origin: string): object {
  const customer = objects.find('customer', form.need('customer'), 'customer')
  const back = addressIn(form, 'return_url')
  form.end()
  const id = objects.id('bps')
  const rest = { configuration: 'bpc_sandbox', flow: null, locale: null, on_behalf_of: null }
  return objects.add('billing_portal.session', { id, customer: customer.id, return_url: back, url: `${origin}/portal/${id}`, ...rest })
}

/** The subscriptions of a customer that are not over. */
export const standing = (objects: Objects, customer: string): readonly StripeObject[] =>
  objects.all('subscription').filter(({ customer: whose, status }) => whose === customer && status !== 'canceled')

/** Ends the subscriptions of a portal's customer with their period, as the portal's button does. */
export function cancelAtEnd(objects: Objects, customer: string): void {
  for (const subscription of standing(objects, customer)) objects.change(subscription, { cancel_at_period_end: true, canceled_at: objects.now() })
}
