import { createNames } from '../../../platform/outbound/names.ts'
import { createReaches, type ReachesOptions } from '../../../platform/outbound/public.ts'
import { createDial, placesOf } from '../../../platform/smtp/dial.ts'
import type { CredentialServers } from '../registration.ts'

/** Makes it. @param allowedOrigins what may lie on a private address @param options how names are found, and what else the way out trusts */
export function createCredentialServers(allowedOrigins: readonly string[], options: Pick<ReachesOptions, 'resolve' | 'reserved'> = {}): CredentialServers {
  const { resolve = createNames(), reserved = [] } = options
  return { reaches: createReaches(allowedOrigins, { resolve, reserved }), dial: createDial(placesOf(allowedOrigins), resolve) }
}
