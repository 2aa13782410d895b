import type { Events } from '../../../../platform/events.ts'
import type { Entry } from '../../../store/books.ts'
import { kindOf } from '../../stores/news/activity.ts'

/** Topics on which it is told what happens in a brand. */
const topics = 'publishing.brand-activity.'
export const activityTopic = (brandId: string): string => `${topics}${brandId}`

/**
 * Announces new audit entries of a brand to its subscribers, after the commit. Its move to another organization ends what follows it:
 * nobody
 * there may read it any more, and those of the other follow it not yet.
 */
export function announceActivity(events: Events, { tenantId, id, action }: Pick<Entry, 'tenantId' | 'id' | 'action'>): void {
  if (kindOf(action) && action !== 'brand.transferred') events.announce(activityTopic(tenantId), { brandId: tenantId, activityId: id }, id)
}

/** Has records that somebody follows looked at again, for events may be lost between processes. */
export const resyncActivity = (events: Events, since: (brandId: string, since: Date) => Promise<readonly { readonly id: string }[]>): void =>
  events.resync(topics, async (brandId, from) => (await since(brandId, from)).map(({ id }) => ({ ids: { brandId, activityId: id }, mark: id })))
