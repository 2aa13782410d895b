import type { Stripe } from 'stripe'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'

/**
 * Headers of Stripe's client that are not sent: those about its machine and measurements, and those that the outbound
 * client sets itself.
 */
const untold = new Set(['x-stripe-client-user-agent', 'x-stripe-client-telemetry', 'user-agent', 'content-length', 'connection'])

/** Stripe's own address, and its host for files (https://docs.stripe.com/api/files/create). */
const [stripesOwn, fileHost] = ['https://api.stripe.com', 'files.stripe.com']

/**
 * Creates an HTTP client by which Stripe's official client calls through the platform's outbound client. Stripe's
 * client would silently repeat a call that may have arrived; the errors thrown here have no code that it repeats. Each
 * call opens a new connection, because a call on a connection that the other side is closing could be lost.
 * @param address base address of the API, including `/v1`. For Stripe's own address, files go to its host for files.
 */
export function transport(outbound: Outbound, address: string): Stripe.HttpClient {
  const base = address.replace(/\/v1$/, '')
  return {
    getClientName: () => 'supergraph',
    async makeRequest(host, _port, path, method, headers, body, _protocol, timeoutMs) {
      const told = Object.entries(headers).flatMap(([name, value]) =>
        untold.has(name.toLowerCase()) || value === undefined || value === null ? [] : [[name.toLowerCase(), String(value)] as const],
      )
      const isWriting = method === 'POST'
      const to = base === stripesOwn && host === fileHost ? `https://${fileHost}` : base
      const answer = await outbound(to + path, {
        method,
        headers: Object.fromEntries(told),
        ...(isWriting && { body: body as string | Uint8Array }),
        timeoutMs,
        freshConnection: isWriting,
      })
      return answered(answer.status, answer.headers, answer.text)
    },
  }
}

/** An answer in the form that Stripe's client reads, without the headers for which it would print warnings. */
function answered(status: number, headers: Headers, text: string): Stripe.HttpClientResponse {
  const found = Object.fromEntries([...headers].filter(([name]) => name !== 'stripe-notice'))
  return {
    getStatusCode: () => status,
    getHeaders: () => found,
    getRawResponse: () => ({ headers: found }),
    toStream: () => {
      throw new Error('answers of the processor are read whole')
    },
    toJSON: async () => {
      const value: unknown = JSON.parse(text)
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no object')
      // An error status without an error body, as a proxy in front of the processor sends it.
      return status >= 400 && !('error' in value) ? { error: { type: 'api_error', message: `answered ${status}` } } : value
    },
  }
}
