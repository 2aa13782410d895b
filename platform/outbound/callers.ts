import type { ResolveName } from './names.ts'
import { createNames } from './names.ts'
import { createOutbound, type WayOut } from './outbound.ts'
import { createReaches, type Reaches } from './public.ts'

/**
 * Outbound HTTP for addresses that callers give: it only reaches public addresses. Origins in the operator's settings
 * (a bucket, a model server, a registry) are for the platform's own calls; a caller who could name them could read what
 * they serve.
 */
export interface CallersWay {
  readonly outbound: WayOut
  /** Checks in advance whether an address may be called. */
  readonly reaches: Reaches
}

/**
 * Creates the client.
 * @param allowedOrigins private origins that callers may name: the sandbox of a demo, and no others
 */
export function createCallersWay(allowedOrigins: readonly string[], resolve: ResolveName = createNames()): CallersWay & { close(): Promise<void> } {
  const outbound = createOutbound(allowedOrigins, resolve)
  return { outbound, reaches: createReaches(allowedOrigins, { resolve }), close: () => outbound.close() }
}
