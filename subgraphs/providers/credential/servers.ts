import { createNames } from '../../../platform/outbound/names.ts'
import { createReaches, type ReachesOptions } from '../../../platform/outbound/public.ts'
import { createDial, placesOf } from '../../../platform/smtp/dial.ts'
import type { CredentialServers } from '../registration.ts'

/**
 * Creates the clients for servers in credentials. @param allowedOrigins origins that may have a private address @param
 * options of name resolution, and further trusted certificates
 */
export function createCredentialServers(allowedOrigins: readonly string[], options: Pick<ReachesOptions, 'resolve' | 'reserved'> = {}): CredentialServers {
  const { resolve = createNames(), reserved = [] } = options
  return { reaches: createReaches(allowedOrigins, { resolve, reserved }), dial: createDial(placesOf(allowedOrigins), resolve) }
}
