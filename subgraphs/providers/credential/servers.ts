import { createNames } from '../../../platform/outbound/names.ts'
import { createReaches, type Reaches, type ReachesOptions } from '../../../platform/outbound/public.ts'
import { createDial, placesOf } from '../../../platform/smtp/dial.ts'
import type { Dial } from '../../../platform/smtp/line.ts'

/** How servers are reached that whoever keeps a credential names: a model server, a mail server. Those of the operator (`OUTBOUND_ALLOW`) are among them. */
export interface CredentialServers {
  /** Tells beforehand whether an address may be called. */
  readonly reaches: Reaches
  /** Connects to a mail server. */
  readonly dial: Dial
}

/** Makes it. @param allowedOrigins what may lie on a private address @param options how names are found, and what else the way out trusts */
export function createCredentialServers(allowedOrigins: readonly string[], options: Pick<ReachesOptions, 'resolve' | 'reserved'> = {}): CredentialServers {
  const { resolve = createNames(), reserved = [] } = options
  return { reaches: createReaches(allowedOrigins, { resolve, reserved }), dial: createDial(placesOf(allowedOrigins), resolve) }
}
