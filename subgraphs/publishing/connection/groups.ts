import type { Job } from '../context.ts'
import { groupsAreOff } from '../network/facebook/groups.ts'

/**
 * Updates stored groups of Facebook after the operator allowed or disallowed posts to groups. A person's selection is
 * kept, and takes effect again once groups are allowed.
 */
export async function tellOfGroups({ networks, places, clock }: Job): Promise<void> {
  const facebook = networks.get('FACEBOOK')
  if (facebook) await places.tell({ platform: 'FACEBOOK', kind: 'GROUP', reason: facebook.closed?.GROUP ?? null, otherwise: groupsAreOff }, clock.now())
}
