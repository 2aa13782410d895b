import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Events } from '../../../../platform/events.ts'
import { requireName, requireText } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../viewer.ts'
import { type AnnouncementAudience, type AnnouncementRow, type AnnouncementSeverity, max as ofStore } from '../../stores/dashboard/announcement.ts'
import { isManager, max as ofLinks, readLink } from '../place.ts'

/** Maximum characters of a text. */
const maxBody = 2_000

/** An announcement's contents, as they are given; undefined for what is left out. */
export interface GivenAnnouncement {
  readonly title?: string | null | undefined
  readonly body?: string | null | undefined
  readonly severity?: AnnouncementSeverity | null | undefined
  readonly from?: Date | null | undefined
  readonly until?: Date | null | undefined
  readonly url?: URL | string | null | undefined
}

type Times = Pick<AnnouncementRow, 'startsAt' | 'endsAt'>
export type Contents = Pick<AnnouncementRow, 'title' | 'body' | 'severity' | 'url' | 'nextAt'> & Times

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

/** Whether an announcement has begun, and may be over. */
export const hasBegun = ({ startsAt }: Pick<Times, 'startsAt'>, now: Date): boolean => startsAt <= now

/** Whether an announcement is over. */
export const isOver = ({ endsAt }: Pick<Times, 'endsAt'>, now: Date): boolean => endsAt !== null && endsAt <= now

/** Returns when an announcement begins or ends next; null when it does neither any more. */
export function nextMoment({ startsAt, endsAt }: Times, now: Date): Date | null {
  if (startsAt > now) return startsAt
  return endsAt && endsAt > now ? endsAt : null
}

function readTimes({ from, until }: GivenAnnouncement, before: Times | null, now: Date): Times {
  const startsAt = from ?? before?.startsAt ?? now
  const endsAt = until === undefined ? (before?.endsAt ?? null) : until
  if (before && hasBegun(before, now) && startsAt > now) throw mistake('from', 'The announcement has begun: name an end instead of another begin.')
  if (endsAt && endsAt <= startsAt) throw mistake('until', 'until is not after from: name a later moment, or none.')
  if (!before && isOver({ endsAt }, now)) throw mistake('until', 'until has passed: name a later moment, or none.')
  return { startsAt, endsAt }
}

/**
 * Returns the contents of an announcement after a change; what the change does not mention stays.
 * @param before null for a new one
 * @throws BAD_USER_INPUT with the field that is wrong
 */
export function contentsOf(given: GivenAnnouncement, before: Contents | null, now: Date, isDevelopment: boolean): Contents {
  const times = readTimes(given, before, now)
  const { title, body, severity, url } = given
  return {
    ...times,
    title: title === undefined && before ? before.title : requireName(title ?? '', 'title', ofLinks.title),
    body: body === undefined && before ? before.body : requireText(body ?? '', 'body', maxBody),
    severity: severity ?? before?.severity ?? 'INFO',
    url: url === undefined && before ? before.url : readLink(url, 'url', isDevelopment),
    nextAt: nextMoment(times, now),
  }
}

/** Returns the changes by which an announcement is over now, and is listed no more. */
export const deleting = ({ endsAt }: Times, now: Date): Partial<AnnouncementRow> => ({
  deletedAt: now,
  endsAt: endsAt && endsAt < now ? endsAt : now,
  nextAt: null,
})

const looksAfterPlatform = ({ roles }: Pick<Viewer, 'roles'>): boolean => roles.some(role => role === 'platform_admin' || role === 'platform_super_admin')

/** Whether a viewer writes announcements for an audience. */
export const mayManage = (viewer: Pick<Viewer, 'roles'>, audience: AnnouncementAudience): boolean =>
  audience === 'PLATFORM' ? looksAfterPlatform(viewer) : isManager(viewer)

/** @throws FORBIDDEN for an audience that the viewer writes no announcements for */
export function requireMayManage(viewer: Pick<Viewer, 'roles'>, audience: AnnouncementAudience): void {
  if (mayManage(viewer, audience)) return
  const who = audience === 'PLATFORM' ? 'those who look after the platform' : 'owners and admins of the organization'
  throw new DomainError('FORBIDDEN', `Announcements with audience ${audience} are written by ${who}.`)
}

/** Whether an announcement of the viewer's context is shown to them: before it begins, only those who manage it see it. */
export const isShown = (row: Pick<AnnouncementRow, 'startsAt' | 'audience'>, viewer: Pick<Viewer, 'roles'>, now: Date): boolean =>
  hasBegun(row, now) || mayManage(viewer, row.audience)

/** Checks that one more may be written. @throws CONFLICT, reason LIMIT */
export function requireRoom({ stored, standing }: { readonly stored: number; readonly standing: number }): void {
  const limit = (message: string) => new DomainError('CONFLICT', message, { reason: 'LIMIT' })
  if (standing >= ofStore.standing) throw limit(`${ofStore.standing} announcements that are not over are the most: delete one first.`)
  if (stored >= ofStore.stored) throw limit(`${ofStore.stored} announcements within 90 days are the most: wait until the oldest is gone.`)
}

const topics = 'launcher.announcements.'
const platform = 'platform'
const topicFor = (organizationId: string | null, readers: 'everybody' | 'managers'): string => `${topics}${organizationId ?? platform}.${readers}`

/** Returns the topic of an announcement, for those who may see it now. */
export const topicOf = (row: Pick<AnnouncementRow, 'organizationId' | 'audience' | 'startsAt'>, now: Date): string =>
  topicFor(row.organizationId, hasBegun(row, now) && row.audience !== 'MANAGERS' ? 'everybody' : 'managers')

/** Returns the topics of the announcements that a viewer may see in the active context. */
export function topicsFor(viewer: Pick<Viewer, 'organizationId' | 'roles'>): string[] {
  const { organizationId } = viewer
  return [
    topicFor(null, 'everybody'),
    ...(looksAfterPlatform(viewer) ? [topicFor(null, 'managers')] : []),
    ...(organizationId ? [topicFor(organizationId, 'everybody')] : []),
    ...(organizationId && isManager(viewer) ? [topicFor(organizationId, 'managers')] : []),
  ]
}

/** Tells apart what readers see of an announcement: its contents, and whether it has begun or is over. */
const markOf = (row: Pick<AnnouncementRow, 'version'> & Times, now: Date): string =>
  `${row.version}.${isOver(row, now) ? 'over' : hasBegun(row, now) ? 'begun' : 'scheduled'}`

/** Publishes, after the commit, that an announcement appeared, changed, began or ended. */
export const announceAnnouncement = (events: Events, row: AnnouncementRow, now: Date): void =>
  events.announce(topicOf(row, now), { id: row.id }, markOf(row, now))

/** Registers the resync of announcements with listeners, because events may be lost between processes. */
export const resyncAnnouncements = (
  events: Events,
  clock: Clock,
  changedSince: (organizationId: string | null, audiences: readonly AnnouncementAudience[], since: Date, now: Date) => Promise<readonly AnnouncementRow[]>,
): void =>
  events.resync(topics, async (rest, since) => {
    const [owner] = rest.split('.') as [string]
    const now = clock.now()
    const isOfPlatform = owner === platform
    const found = await changedSince(isOfPlatform ? null : owner, isOfPlatform ? ['PLATFORM'] : ['ORGANIZATION', 'MANAGERS'], since, now)
    return found.filter(row => topicOf(row, now) === `${topics}${rest}`).map(row => ({ ids: { id: row.id }, mark: markOf(row, now) }))
  })
