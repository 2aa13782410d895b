import { neighbourhoodOf } from '../../../platform/caller/address.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/** Names under which a request is counted. */
export interface Claim {
  /** The person, key, program or address, see `callerName`. */
  readonly caller: string
  /** Name of the organization that shares turns with the caller, see `claimOf`. */
  readonly organization: string
}

/**
 * Returns the name under which a caller's concurrent use is counted: a person, a key, a program, or an anonymous
 * caller's address.
 */
export const callerName = ({ userId, keyId, appId }: Viewer, address: string): string =>
  keyId === null ? (userId ?? appId ?? neighbourhoodOf(address)) : `${keyMark}${keyId}`

/** Whether such a name is that of an API key. */
export const isKeyName = (name: string): boolean => name.startsWith(keyMark)

const keyMark = 'key:'

/**
 * Returns the names under which a request takes turns: the organization in which it works, else its caller. A service
 * takes separate turns in each organization: a call that it makes while answering another one must not wait for that
 * one's slot.
 */
export function claimOf(viewer: Viewer, address: string): Claim {
  const caller = callerName(viewer, address)
  const organization = viewer.organizationId ?? caller
  return { caller, organization: viewer.kind === 'service' ? `${viewer.appId} ${organization}` : organization }
}
