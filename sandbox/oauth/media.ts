import type { Reply } from '../network.ts'
import type { Account, OauthWorld } from './world.ts'

/** The refusal of an upload for which a `media-status` fault is armed. @param refuse as the network does */
export function spoiltMedia({ faults, name }: OauthWorld, { username }: Account, refuse: (status: number) => Reply): Reply | undefined {
  const fault = faults.take(name, ['media-status'], username)
  return fault && { ...refuse(fault.status!), outcome: 'faulted', fault: 'media-status' }
}
