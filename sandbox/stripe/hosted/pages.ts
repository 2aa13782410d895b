import type { Call, Reply } from '../../network.ts'
import { escapeHtml, page, pageHeaders } from '../../oauth/page.ts'
import type { Objects, StripeObject } from '../objects.ts'
import { StripeProblem } from '../problems.ts'
import { paySession, sessionNow } from './checkout.ts'
import { cancelAtEnd, standing } from './portal.ts'

const shown = (status: number, title: string, body: string): Reply => ({
  ...{ status, headers: pageHeaders, outcome: status < 400 ? 'read' : 'refused' },
  body: page(`${title} · sandbox`, `<h1>${title}</h1>\n${body}\n<p><small>Nothing here reaches the real Stripe.</small></p>`),
})

const redirect = (location: string): Reply => ({ status: 303, headers: { location }, body: '', outcome: 'accepted' })

const link = (query: string, text: string): string => `<a href="?${query}">${text}</a>`

/** What the page of a session is told: `1` pays, `0` goes back, absent shows the page. */
type Choice = '1' | '0' | null

/**
 * Answers the page of a checkout session, `/checkout/<id>`. `sandbox_approve=1` pays with the card that always works, or with the one that
 * `sandbox_card` names, and answers 303 to the page of success; `sandbox_approve=0` goes back and leaves the session open.
 * @param paid called with a session that was paid
 */
export function checkoutPage(objects: Objects, { query }: Call, id: string, paid: (session: StripeObject) => void): Reply {
  const session = found(objects, 'checkout.session', id)
  if (!session) return shown(404, 'Something went wrong', '<p>The page that you were looking for could not be found.</p>')
  sessionNow(objects, session)
  const { status, mode, amount_total, currency, cancel_url, success_url } = objects.find('checkout.session', id, null)
  if (status !== 'open') return shown(410, 'Checkout', `<p>This session is ${status}.</p>`)
  const choice = query.get('sandbox_approve') as Choice
  if (choice === '0' && cancel_url !== null) return redirect(cancel_url)
  if (choice === '1') {
    try {
      paid(paySession(objects, id, query.get('sandbox_card') ?? 'pm_card_visa'))
      return redirect(success_url.replaceAll('{CHECKOUT_SESSION_ID}', id))
    } catch (error) {
      if (!(error instanceof StripeProblem)) throw error
      return shown(error.status, 'Checkout', `<p>${escapeHtml(error.message)}</p>\n<p>${link('sandbox_approve=1', 'Pay with another card')}</p>`)
    }
  }
  const sum = amount_total === null ? '' : `<p>${escapeHtml(`${amount_total} ${String(currency).toUpperCase()}`)}, in minor units</p>\n`
  const back = cancel_url === null ? '' : `\n<p>${link('sandbox_approve=0', 'Back')}</p>`
  return shown(200, 'Checkout', `${sum}<p>${link('sandbox_approve=1', mode === 'setup' ? 'Save card' : 'Pay')}</p>${back}`)
}

/** Answers the page of a portal session, `/portal/<id>`. `sandbox_cancel=1` ends the customer's subscriptions with their period. */
export function portalPage(objects: Objects, { query }: Call, id: string): Reply {
  const portal = found(objects, 'billing_portal.session', id)
  if (!portal) return shown(404, 'Something went wrong', '<p>The page that you were looking for could not be found.</p>')
  const { customer, return_url: back } = portal
  if (query.get('sandbox_cancel') === '1') {
    cancelAtEnd(objects, customer)
    return redirect(back ?? portal.url)
  }
  const list = standing(objects, customer).map(
    ({ id, status, cancel_at_period_end }) => `<li>${escapeHtml(`${id}: ${status}${cancel_at_period_end ? ', ends with its period' : ''}`)}</li>`,
  )
  const away = back === null ? '' : `\n<p><a href="${escapeHtml(back)}">Return</a></p>`
  return shown(200, 'Subscriptions', `<ul>${list.join('')}</ul>\n<p>${link('sandbox_cancel=1', 'Cancel')}</p>${away}`)
}

function found(objects: Objects, kind: 'checkout.session' | 'billing_portal.session', id: string): StripeObject | null {
  try {
    return objects.find(kind, id, null)
  } catch {
    return null
  }
}
