import { doForOrganization } from '../../caller/cause.ts'
import { OutboundFailure } from '../failure.ts'
import type { WayOut } from '../outbound.ts'
import type { Reaches } from '../public.ts'
import { type Answered, timeoutMs } from './tries.ts'

/** A message by Standard Webhooks: the same bytes under the same id at each attempt. */
export interface Message {
  readonly id: string
  readonly body: string
  readonly url: string
  /** Secrets in the form `whsec_…`; each of them signs. */
  readonly secrets: readonly string[]
  /** The organization whose limits the request counts against. */
  readonly organizationId: string
}

/** Dependencies of sending. */
export interface Sending {
  /**
   * Outbound client: for addresses of callers the one without trusted origins (`platform/outbound/callers.ts`), for
   * those of settings the platform's own.
   */
  readonly way: { readonly outbound: WayOut; readonly reaches: Reaches }
  readonly log: { error(facts: object, text: string): void }
}

/** The body that is sent (Standard Webhooks). */
export const bodyOf = (type: string, data: object, at: Date): string => JSON.stringify({ type, timestamp: at.toISOString(), data })

/**
 * Makes one attempt: signs a message and posts it, unless the address must not be called.
 * @returns the status of the answer; null when none arrived, or nothing was sent
 */
export const send = (sending: Sending, message: Message, now: Date): Promise<Answered> =>
  doForOrganization(message.organizationId, () => post(sending, message, now))

async function post({ way, log }: Sending, { id, body, url, secrets }: Message, now: Date): Promise<Answered> {
  try {
    const { Webhook } = await import('standardwebhooks')
    const signatures = secrets.map(secret => new Webhook(secret).sign(id, now, body))
    // The name may resolve elsewhere than when it was stored, and internal addresses must never be called.
    if (!(await way.reaches(new URL(url)))) return null
    const { status } = await way.outbound(url, {
      method: 'POST',
      timeoutMs: timeoutMs,
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
    })
    return status
  } catch (error) {
    if (!(error instanceof OutboundFailure)) log.error({ err: error, messageId: id }, 'webhook could not be signed or sent; it will be retried')
    return null
  }
}
