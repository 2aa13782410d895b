import type { Stripe } from 'stripe'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { transport } from './transport.ts'

/**
 * Time limit in ms of the processor's answer: less than the 30 s of an operation, so that the caller learns the result.
 */
export const mostMs = 27_000

/**
 * Opens the official client, which is loaded at its first use.
 * @param address of the API, `/v1` included
 */
export function openClient(outbound: Outbound, address: string): () => Promise<Stripe> {
  let opening: Promise<Stripe> | undefined
  const open = async (): Promise<Stripe> => {
    const { Stripe } = await import('stripe')
    // The idempotency key comes from the caller; a call without one is sent without one.
    return new Stripe(undefined as unknown as string, {
      ...{ authenticator: async () => {}, httpClient: transport(outbound, address), maxNetworkRetries: 0, telemetry: false, timeout: mostMs },
    })
  }
  return () => {
    opening ??= open().catch(error => {
      opening = undefined
      throw error
    })
    return opening
  }
}
