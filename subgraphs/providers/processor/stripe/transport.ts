import type { Stripe } from 'stripe'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'

/** Headers of Stripe's client that are not sent: the machine it runs on, and its measurements. What the way out writes itself is left to it. */
const untold = new Set(['x-stripe-client-user-agent', 'x-stripe-client-telemetry', 'user-agent', 'content-length', 'connection'])

/**
 * Has the official client go out as everything does that leaves the platform. Where it would be silent and send again a call that may have
 * arrived, it does not: what it is thrown has no code that it knows. Each call has a connection of its own, so that nothing is lost in one
 * that the other side is closing.
 * @param address of the interface, `/v1` included
 */
export function transport(outbound: Outbound, address: string): Stripe.HttpClient {
  const base = address.replace(/\/v1$/, '')
  return {
    getClientName: () => 'supergraph',
    async makeRequest(_host, _port, path, method, headers, body, _protocol, timeoutMs) {
      const told = Object.entries(headers).flatMap(([name, value]) =>
        untold.has(name.toLowerCase()) || value === undefined || value === null ? [] : [[name.toLowerCase(), String(value)] as const],
      )
      const isWriting = method === 'POST'
      const answer = await outbound(base + path, {
        method,
        headers: Object.fromEntries(told),
        ...(isWriting && { body }),
        timeoutMs,
        freshConnection: isWriting,
      })
      return answered(answer.status, answer.headers, answer.text)
    },
  }
}

/** An answer as the client reads it. What it would warn of on the process' own output is not among the headers. */
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
