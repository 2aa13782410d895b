import { neighbourhoodOf } from '../../../platform/caller/address.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/** Under what a request is counted. */
export interface Claim {
  /** The person, key, program or address, see `callerName`. */
  readonly caller: string
  /** With whom the caller shares turns, see `claimOf`. */
  readonly organization: string
}

/** Under what everything is counted that one caller does at once: a person, a key, a program, or an anonymous caller's address. */
export const callerName = ({ userId, keyId, appId }: Viewer, address: string): string =>
  keyId === null ? (userId ?? appId ?? neighbourhoodOf(address)) : `${keyMark}${keyId}`

/** Whether such a name is that of an API key. */
export const isKeyName = (name: string): boolean => name.startsWith(keyMark)

const keyMark = 'key:'

/**
 * Under what a request takes its turn: the organization in which it works, else its caller. A service takes turns of its own in each
 * organization: what it asks for a call that it answers must not wait for the place of that call.
 */
export function claimOf(viewer: Viewer, address: string): Claim {
  const caller = callerName(viewer, address)
  const organization = viewer.organizationId ?? caller
  return { caller, organization: viewer.kind === 'service' ? `${viewer.appId} ${organization}` : organization }
}
