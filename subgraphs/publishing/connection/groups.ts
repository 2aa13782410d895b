import type { Job } from '../context.ts'
import { groupsAreOff } from '../network/facebook/groups.ts'

/**
 * Has stored groups of Facebook say whether posts may go there, as the operator has set it: they were listed when it was set otherwise,
 * perhaps. What a person chose stays, and counts again once groups are allowed again.
 */
export async function tellOfGroups({ networks, places, clock }: Job): Promise<void> {
  const facebook = networks.get('FACEBOOK')
  if (facebook) await places.tell({ platform: 'FACEBOOK', kind: 'GROUP', reason: facebook.closed?.GROUP ?? null, otherwise: groupsAreOff }, clock.now())
}
