import type { Events } from '../../../../platform/events.ts'
import type { Entry } from '../../../store/books.ts'
import { kindOf } from '../../stores/news/activity.ts'

/** Prefix of the topics with a brand's activity. */
const topics = 'publishing.brand-activity.'
export const activityTopic = (brandId: string): string => `${topics}${brandId}`

/**
 * Announces new audit entries of a brand to its subscribers, after the commit. When a brand moves to another
 * organization its streams end, because subscribers of the former organization may no longer read it.
 */
export function announceActivity(events: Events, { tenantId, id, action }: Pick<Entry, 'tenantId' | 'id' | 'action'>): void {
  if (kindOf(action) && action !== 'brand.transferred') events.announce(activityTopic(tenantId), { brandId: tenantId, activityId: id }, id)
}

/** Makes subscribers re-read changed records, because events may be lost between processes. */
export const resyncActivity = (events: Events, since: (brandId: string, since: Date) => Promise<readonly { readonly id: string }[]>): void =>
  events.resync(topics, async (brandId, from) => (await since(brandId, from)).map(({ id }) => ({ ids: { brandId, activityId: id }, mark: id })))
