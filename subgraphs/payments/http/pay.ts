import { setTimeout as pause } from 'node:timers/promises'
import { codeOf } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { escaped, htmlPage } from '../../http/html.ts'
import { addressOfLink } from '../engines/checkout/link.ts'
import { openPage, recordSession } from '../engines/checkout/open.ts'
import type { CheckoutWork } from '../engines/checkout/work.ts'
import { allowsMove } from '../engines/payment/moves.ts'
import type { PaymentLinkRow } from '../stores/checkout/link.ts'
import type { CheckoutSessionRow } from '../stores/checkout/session.ts'

/** For how long a payer waits for a page that another request opens, and how often it is looked for, in ms. */
const [waitMs, lookMs] = [10_000, 200]

/**
 * Answers `GET /payments/pay/:token`: sends a payer to the page of the link's order, which is opened where none is. 404 for a link that is
 * unknown, closed, over or paid, alike.
 * @param job opened anew for each reading
 */
export async function payPage(job: () => CheckoutWork, token: string): Promise<Response> {
  const link = await job().paymentLinks.byToken(token)
  if (link?.status !== 'OPEN' || link.expiresAt <= job().clock.now()) return gone()
  const order = await job().orders.byId.load(link.orderId)
  if (!order || !allowsMove(order, 'pay')) return gone()
  try {
    const url = await addressFor(job, link)
    if (url) return new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } })
    return htmlPage(503, 'One moment', 'The payment page is being opened. Please open this link again in a moment.')
  } catch (error) {
    if (!['CONFLICT', 'UPSTREAM_FAILED', 'BUDGET_EXCEEDED', 'RATE_LIMITED'].includes(codeOf(error))) throw error
    job().log.warn({ err: error, linkId: link.id }, 'a payment link could not be followed')
    return htmlPage(503, 'Payment is not possible', 'This payment cannot be taken at the moment. Please try again later, or write to the sender of the link.')
  }
}

/** Returns where the open session of a link's order is shown; null where another request has not opened it in time. */
async function addressFor(job: () => CheckoutWork, link: PaymentLinkRow): Promise<string | null> {
  const until = performance.now() + waitMs
  do {
    const open = await openSession(job(), link.orderId)
    if (open?.url) return open.url
    if (!open) {
      const opened = await openFor(job, link)
      if (opened?.url) return opened.url
    }
    await pause(lookMs)
  } while (performance.now() < until)
  return null
}

const openSession = async (job: CheckoutWork, orderId: string): Promise<CheckoutSessionRow | null> => {
  const order = await job.orders.byId.load(orderId)
  const session = await job.checkoutSessions.find(order?.checkoutSessionId ?? null)
  return session?.status === 'OPEN' ? session : null
}

async function openFor(job: () => CheckoutWork, link: PaymentLinkRow): Promise<CheckoutSessionRow | null> {
  const { orderId, organizationId, id: linkId } = link
  const { publicUrl, clock, settings, underway } = job()
  const { checkoutMinutes: minutes } = await settings.of(organizationId)
  const back = `${addressOfLink(publicUrl, link)}/return`
  const id = newId(clock.now())
  try {
    await recordSession(job(), { id, orderId, linkId, minutes, successUrl: `${back}?paid=1`, cancelUrl: back })
  } catch (error) {
    // Another request was quicker: its page is waited for.
    if ((error as { extensions?: { reason?: unknown } }).extensions?.reason === 'SESSION_OPEN') return null
    throw error
  }
  return underway.run(() => openPage(job(), id))
}

/** Answers `GET /payments/pay/:token/return`: where the processor's page leads a payer back to. */
export async function returnPage(job: () => CheckoutWork, request: Request, token: string): Promise<Response> {
  const link = await job().paymentLinks.byToken(token)
  if (!link) return gone()
  const order = await job().orders.byId.load(link.orderId)
  if (order?.paidAt) return htmlPage(200, 'Thank you', 'The payment was received. You may close this page.')
  if (new URL(request.url).searchParams.get('paid') === '1') return htmlPage(200, 'Thank you', 'The payment is being confirmed. You may close this page.')
  if (link.status !== 'OPEN') return gone()
  return htmlPage(200, 'Nothing was paid', 'You have left the payment page.', `<p><a href="/payments/pay/${escaped(token)}">Pay now</a></p>`)
}

const gone = (): Response => htmlPage(404, 'This link leads nowhere', 'It may have been paid, closed, or mistyped. Please ask the sender for another.')
