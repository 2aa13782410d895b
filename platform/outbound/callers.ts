import type { ResolveName } from './names.ts'
import { createNames } from './names.ts'
import { createOutbound, type WayOut } from './outbound.ts'
import { createReaches, type Reaches } from './public.ts'

/**
 * The way out for addresses that callers give: it leads to public places alone. Origins that the operator's settings name (a bucket, a model
 * server, a registry) are for the platform's own calls; a caller who could name them would be handed what lies there.
 */
export interface CallersWay {
  readonly outbound: WayOut
  /** Tells beforehand whether an address may be called. */
  readonly reaches: Reaches
}

/**
 * Makes it.
 * @param allowedOrigins what callers may name although it lies on a private address: the sandbox of a demo, and nothing else
 */
export function createCallersWay(allowedOrigins: readonly string[], resolve: ResolveName = createNames()): CallersWay & { close(): Promise<void> } {
  const outbound = createOutbound(allowedOrigins, resolve)
  return { outbound, reaches: createReaches(allowedOrigins, { resolve }), close: () => outbound.close() }
}
