import { createHmac, randomBytes } from 'node:crypto'
import type { Deps } from '../../network.ts'
import type { Endpoint } from '../../webhooks/endpoints.ts'

/** The service whose endpoint of the account is meant. */
export const receivers = ['stripe-payments', 'stripe-launcher'] as const

export type Receiver = (typeof receivers)[number]

/** An event that was not taken yet, at one endpoint. */
interface Delivery {
  readonly key: string
  readonly receiver: Receiver
  readonly body: string
  /** Milliseconds since 1970. */
  readonly dueAt: number
  readonly tries: number
  readonly isForged?: boolean
}

/** How an endpoint answered; status null: it could not be reached. */
export interface EndpointAnswer {
  readonly status: number | null
  readonly body: string | null
}

export interface Deliveries {
  /** Has an event sent to each endpoint, or does with it what an armed fault says. @param afterMs how much later than at once it is sent first */
  add(body: string, afterMs: number): void
  /** Sends what is due; what is not taken is tried again after 1 and after 3 seconds. Call it after the commit. */
  sendDue(): void
  /** Sends an event at once, whatever faults are armed. @param age how many seconds old its signature is */
  send(receiver: Receiver, body: string, signing: { readonly isForged: boolean; readonly age: number }): Promise<EndpointAnswer>
}

const retriesMs = [1_000, 3_000]
const timeoutMs = 10_000
const eventFaults = ['webhook-twice', 'webhook-late', 'webhook-lost', 'webhook-bad-signature'] as const

/** The header `Stripe-Signature` (https://docs.stripe.com/webhooks#verify-manually): the key is the whole text of the secret. */
export const signatureOf = (secret: string, seconds: number, body: string): string =>
  `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`

export function openDeliveries(name: string, { state, faults, clock, endpoints, listening }: Deps): Deliveries {
  const waiting = state.collection<Delivery>(`${name}.deliveries`, 20_000)
  const underway = new Set<string>()
  let last = Math.max(0, ...[...waiting.values()].map(({ key }) => Number(key)))
  const now = (): number => clock.now().getTime()
  let isListening = !listening
  void listening?.then(() => {
    isListening = true
  })

  const send: Deliveries['send'] = async (receiver, body, { isForged, age }) => {
    const { url, secret }: Endpoint = endpoints[receiver]
    if (url === null) return { status: null, body: null }
    const key = isForged ? `whsec_${randomBytes(24).toString('base64')}` : secret
    const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signatureOf(key, Math.floor(now() / 1000) - age, body) }
    const sent = { method: 'POST', headers: { ...headers, 'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)' }, body } as const
    try {
      const answer = await fetch(url, { ...sent, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
      return { status: answer.status, body: await answer.text() }
    } catch {
      return { status: null, body: null }
    }
  }

  const attempt = async (delivery: Delivery): Promise<void> => {
    const { key } = delivery
    underway.add(key)
    const { status } = await send(delivery.receiver, delivery.body, { isForged: delivery.isForged ?? false, age: 0 })
    underway.delete(key)
    const pauseMs = retriesMs[delivery.tries]
    if ((status !== null && status >= 200 && status < 300) || pauseMs === undefined) waiting.delete(key)
    else waiting.set(key, { ...delivery, tries: delivery.tries + 1, dueAt: now() + pauseMs })
  }

  return {
    send,
    add(body, afterMs) {
      const fault = faults.take(name, eventFaults)
      if (fault?.fault === 'webhook-lost') return
      const delivery = {
        ...{ body, tries: 0, dueAt: now() + (fault?.fault === 'webhook-late' ? fault.delayMs! : afterMs) },
        ...(fault?.fault === 'webhook-bad-signature' && { isForged: true }),
      }
      for (const receiver of receivers.filter(each => endpoints[each].url !== null))
        for (let count = fault?.fault === 'webhook-twice' ? 2 : 1; count > 0; count -= 1) {
          last += 1
          waiting.set(String(last), { ...delivery, key: String(last), receiver })
        }
    },
    sendDue() {
      if (!isListening) return
      for (const delivery of [...waiting.values()]) if (delivery.dueAt <= now() && !underway.has(delivery.key)) void attempt(delivery)
    },
  }
}
