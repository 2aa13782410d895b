import { dayAfter, localTime, startOfDay } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { titleOfPost } from '../../news/announce.ts'
import type { BrandRow } from '../../stores/brand.ts'
import type { ConnectionRow } from '../../stores/connection.ts'
import type { CalendarEntryRow } from '../../stores/planning/calendar.ts'
import type { CampaignRow } from '../../stores/planning/campaign.ts'
import type { PostRow } from '../../stores/post.ts'

const dayMs = 86_400_000

/** Maximum days that a calendar shows at once. */
export const mostDays = 62

/**
 * Checks a range of moments, whose end is exclusive.
 * @param most maximum number of days
 * @throws BAD_USER_INPUT when it is empty or too long
 */
export function checkRange(from: Date, to: Date, most: number): void {
  if (to <= from) throw new DomainError('BAD_USER_INPUT', 'to does not lie after from: the range is empty.', { field: 'to' })
  if (to.getTime() - from.getTime() > most * dayMs)
    throw new DomainError('BAD_USER_INPUT', `from and to are more than ${most} days apart: ask for less at once.`, { field: 'to' })
}

type Zoned = Pick<BrandRow, 'timeZone'>

/** Returns the calendar entry of a post. @param post a post with a time */
export function entryOfPost(post: PostRow, { timeZone }: Zoned): CalendarEntryRow {
  const { id, brandId, platform, status, version } = post
  const at = post.scheduledAt!
  const title = titleOfPost(post)
  return { id, kind: 'POST', at, endsAt: null, ...localTime(timeZone, at), title, brandId, platform, status, version, post, campaign: null }
}

/** Returns the calendar entry of a campaign. @param campaign a campaign with a first day */
export function entryOfCampaign(campaign: CampaignRow, { timeZone }: Zoned): CalendarEntryRow {
  const { id, brandId, name: title, startsOn, endsOn, version } = campaign
  const at = startOfDay(timeZone, startsOn!)
  const endsAt = startOfDay(timeZone, dayAfter(endsOn ?? startsOn!, 1))
  return { id, kind: 'CAMPAIGN', at, endsAt, ...localTime(timeZone, at), title, brandId, platform: null, status: null, version, post: null, campaign }
}

type Placed = Pick<PostRow, 'status' | 'connectionId' | 'target'>
type Account = Pick<ConnectionRow, 'id' | 'externalAccountId' | 'targets'>

/**
 * Returns the place where followers see a post, as far as it is known: the account, and the place within it.
 * @param connection the connection that delivered it, or would now; null when the brand has none
 */
export function placeShown({ target }: Placed, connection: Account | null): string {
  const place = target ?? connection?.targets.find(({ isDefault }) => isDefault)
  return JSON.stringify([connection?.externalAccountId ?? null, place?.kind ?? null, place?.externalId ?? null])
}

/**
 * Rejects moving a post that is not scheduled or was published.
 * @throws CONFLICT, reason ILLEGAL_MOVE
 */
export function requireMovable({ status }: Pick<PostRow, 'status'>): void {
  if (status === 'SCHEDULED' || status === 'FAILED') return
  const why = status === 'DRAFT' ? 'was never given a time: schedule it with reschedulePost' : 'has gone out'
  throw new DomainError('CONFLICT', `A ${status} post cannot be moved in the calendar, it ${why}.`, {
    reason: 'ILLEGAL_MOVE',
    from: status,
    verb: 'move',
    possible: [],
  })
}
