import { step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { placeKey, placeKinds } from '../network/account/account.ts'
import type { Target } from '../network/publication.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import { heldWithBrand, withHealth } from './health.ts'

/** Maximum characters of a network's message that are stored with a place. */
const longestReason = 300

/**
 * Records that a network accepts no posts at a place of a connection any more: the place is no longer offered, and the
 * next post for it fails before it is sent, until the account is checked or connected again. Does nothing for a target
 * that is the account itself.
 */
export async function keepGone(job: Job, { id, brandId }: Pick<ConnectionRow, 'id' | 'brandId'>, target: Target | null, why: string): Promise<void> {
  if (!target || !placeKinds.has(target.kind)) return
  await step(job, {
    ...heldWithBrand(job, { id, brandId }),
    decide(held, { now }) {
      const isMeant = (place: ConnectionRow['targets'][number]) => place.available && placeKey(place) === placeKey(target)
      if (!held.active || !held.targets.some(isMeant)) return null
      const targets = held.targets.map(place => (isMeant(place) ? { ...place, available: false, reason: why.slice(0, longestReason) } : place))
      return { changes: withHealth(held, { targets }, now), isNews: true }
    },
    audit: () => ({ tenantId: brandId, action: 'connection.place_lost', subjectId: id, details: { kind: target.kind, externalId: target.externalId } }),
  })
}
