import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Mail } from '../../engines/mail/mail.ts'
import { nextDigest } from '../../engines/notify/quiet.ts'
import { type PlaceOfPerson, placesOf, verifiedMailOf } from '../../engines/people/people.ts'
import { severalAtATime } from '../../engines/several.ts'
import { type actionItemStore, audienceKeysOf, type DigestLine } from '../../stores/inbox/action-item.ts'
import type { notificationStore } from '../../stores/inbox/notification.ts'
import type { DueDigest, preferencesStore } from '../../stores/inbox/notification-preferences.ts'
import { type DigestContent, digestMailOf } from '../mail/texts.ts'
import { settingsUrl } from '../mail/write.ts'

/** Maximum digests of one run, and of those how many are prepared at a time. */
const [atOnce, together] = [100, 8]
/** How long a digest is put off that could not be sent, in ms. */
const pauseMs = 60_000
/** Maximum lines of each list. */
const maxLines = 20

/** What digests are read and queued with. */
export interface DigestWriting extends Writing {
  readonly actionItems: ReturnType<typeof actionItemStore.open>
  readonly notifications: ReturnType<typeof notificationStore.open>
  readonly mail: Mail
  readonly ask: Ask
  readonly dashboardUrl: string
}

/** What scheduled digests are sent with. */
export interface DigestWork extends DigestWriting {
  readonly notificationPreferences: ReturnType<typeof preferencesStore.open>
  readonly clock: Clock
  readonly log: Logger
}

/** A person's digest, before it is mailed. */
export interface Digest extends DigestContent {
  readonly to: string
  /** On whose account it is mailed: of the one organization that all of it belongs to, else null. */
  readonly organizationId: string | null
}

/** Reads what a digest says to a person; null for a person without a verified mail address. */
export async function readDigest({ ask, actionItems, notifications }: DigestWriting, userId: string): Promise<Digest | null> {
  const to = await verifiedMailOf(ask, userId)
  if (to === null) return null
  const places = await placesOf(ask, userId)
  const organizations = [null, ...places.map(({ id }) => id)]
  const [items, unread] = await Promise.all([
    actionItems.waitingFor(userId, audienceKeysIn(userId, places), maxLines),
    notifications.unreadOf(
      organizations.map(organizationId => ({ organizationId, userId })),
      maxLines,
    ),
  ])
  return {
    ...{ to, items, open: items[0]?.total ?? 0, notifications: unread, unread: unread[0]?.total ?? 0 },
    organizationId: accountOf([...items, ...unread]),
  }
}

/** Returns the audiences that a person belongs to, in all contexts. */
const audienceKeysIn = (userId: string, places: readonly PlaceOfPerson[]): readonly string[] =>
  [{ id: null, roles: [] }, ...places].flatMap(({ id, roles }) => audienceKeysOf({ organizationId: id, userId, roles }))

/** The organization that all lines belong to; null where they belong to several, or to none. */
function accountOf(lines: readonly DigestLine[]): string | null {
  const [only, ...others] = new Set(lines.flatMap(({ firstOrganization, lastOrganization }) => [firstOrganization, lastOrganization]))
  return only && others.length === 0 ? only : null
}

/** Queues the mail of a digest. @returns false when there is nothing to say */
export async function queueDigest({ mail, dashboardUrl }: DigestWriting, key: string, digest: Digest, unit: WriteTransaction): Promise<boolean> {
  const content = digestMailOf(digest, dashboardUrl, settingsUrl(dashboardUrl))
  if (!content) return false
  const { to, organizationId } = digest
  await mail.queue({ key: `digest:${key}`, kind: 'digest', organizationId, to, ...content }, unit)
  return true
}

/**
 * Sends the digests whose time has come, each in the transaction that computes the time of the next one: so each leaves once, whichever
 * process sends it, also when one dies in between. One that cannot be sent leaves the others.
 * @returns when the next one is due; null without one
 */
export async function sendDigests(job: DigestWork): Promise<Date | null> {
  const { notificationPreferences: preferences, clock, log } = job
  const now = clock.now()
  const next = await preferences.nextDigest()
  if (next === null || next > now) return next
  const due = await preferences.dueDigests(now, atOnce)
  const send = async (digest: DueDigest): Promise<void> => {
    try {
      await sendOne(job, digest)
    } catch (error) {
      log.warn({ err: error, userId: digest.userId }, 'digest not sent; it is tried again')
      await preferences.postponeDigest(digest, new Date(now.getTime() + pauseMs))
    }
  }
  await severalAtATime(due, together, send)
  return preferences.nextDigest()
}

async function sendOne(job: DigestWork, { userId, digestAt }: DueDigest): Promise<void> {
  const { notificationPreferences: preferences } = job
  // Those that were wanted before digests were sent have no time yet.
  const digest = digestAt.getTime() === 0 ? null : await readDigest(job, userId)
  await inTransaction(job, async unit => {
    const row = await preferences.lockDigest(userId, unit.now, unit.transaction)
    if (!row) return
    if (digest && row.digest.frequency !== 'OFF') await queueDigest(job, `${row.id}:${row.digestAt.toISOString()}`, digest, unit)
    crash('launcher-digest-queued')
    await preferences.scheduleDigest(userId, nextDigest(row, unit.now), unit.transaction)
  })
}
