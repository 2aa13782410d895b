import type { Stripe } from 'stripe'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { transport } from './transport.ts'

/** How long an answer of the processor may take, in ms: less than the 30 s that an operation has, so that whoever waits is told what is known. */
export const mostMs = 27_000

/**
 * Opens the official client, which is loaded when it is first asked for.
 * @param address of the interface, `/v1` included
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
