import type { Events } from '../../../../platform/events.ts'
import { newId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { actionItemStore } from '../../stores/inbox/action-item.ts'
import type { Messages, Receiver } from '../../stores/inbox/message.ts'
import type { NoticeRow, noticeStore } from '../../stores/inbox/notice.ts'
import { type Arrived, type notificationStore, ownerKeyOf } from '../../stores/inbox/notification.ts'
import type { preferencesStore } from '../../stores/inbox/notification-preferences.ts'
import type { snoozeStore } from '../../stores/inbox/snooze.ts'
import type { Alarm } from './alarm.ts'
import { quietEnd } from './quiet.ts'
import { waysOf } from './ways.ts'

/** What people are told: news, or that an action item waits. */
export type Notice = Omit<NoticeRow, 'id' | 'createdAt' | 'itemId' | 'isInAppOnly'> & Partial<Pick<NoticeRow, 'itemId' | 'isInAppOnly'>>

/** What notices are posted with: the context of a viewer, or of a job. */
export interface Posting {
  readonly notices: ReturnType<typeof noticeStore.open>
  readonly noticeAlarm: Alarm
}

/** What action items are written with. */
export interface ItemWriting extends Posting {
  readonly events: Events
  readonly actionItems: ReturnType<typeof actionItemStore.open>
  readonly snoozes: ReturnType<typeof snoozeStore.open>
}

/**
 * Posts a notice in the transaction of its cause. Its people are found and told after the commit, because identity is
 * asked who they are.
 * @returns a function that has it delivered at once
 */
export async function postNotice({ notices, noticeAlarm }: Posting, notice: Notice, { transaction, now }: WriteTransaction): Promise<() => void> {
  await notices.insert({ ...notice, id: newId(now), createdAt: now }, transaction)
  return () => noticeAlarm.ring()
}

const topics = 'launcher.notifications.'

/** Returns the topic of a person's notifications in a context. */
export const topicOf = (owner: Parameters<typeof ownerKeyOf>[0]): string => `${topics}${ownerKeyOf(owner)}`

/** What people are notified with. */
export interface Notifying {
  readonly events: Events
  readonly notifications: ReturnType<typeof notificationStore.open>
  readonly notificationPreferences: ReturnType<typeof preferencesStore.open>
  readonly messages: Messages
  /** Begins the sweeps that write mails, and that send push messages. */
  readonly mailAlarm: Alarm
  readonly pushAlarm: Alarm
}

/**
 * Tells people what a notice says, by the ways that each of them wants: the one place at which each way to reach a
 * person begins.
 * @returns a function that publishes it after the commit
 */
export async function notify(context: Notifying, notice: NoticeRow, userIds: readonly string[], { transaction, now }: WriteTransaction): Promise<() => void> {
  if (userIds.length === 0) return () => {}
  const { events, notifications, notificationPreferences, messages, mailAlarm, pushAlarm } = context
  const reaching = await notificationPreferences.reachingOf(userIds, transaction)
  const ways = new Map(userIds.map(userId => [userId, waysOf(reaching.get(userId)?.rules ?? [], notice)]))
  const inApp = notice.itemId === null ? userIds.filter(userId => ways.get(userId)!.inApp) : []
  const arrived = inApp.length > 0 ? await notifications.arrive(notice, inApp, now, transaction) : []
  const ids = new Map(arrived.map(each => [each.userId, each.id]))
  const receivers = userIds.map((userId): Receiver => {
    const hours = notice.severity === 'CRITICAL' ? undefined : reaching.get(userId)
    return { userId, notificationId: ids.get(userId) ?? null, quietUntil: hours ? quietEnd(hours, now) : null }
  })
  // What comes in quiet hours waits for their end as a mail, also what would have been pushed.
  const mailed = receivers.filter(({ userId, quietUntil }) => ways.get(userId)!.email || (quietUntil && ways.get(userId)!.push))
  const pushed = receivers.filter(({ userId, quietUntil }) => quietUntil === null && ways.get(userId)!.push)
  if (mailed.length > 0) await messages.mail(notice, mailed, now, transaction)
  const isPushed = pushed.length > 0 && (await messages.push(notice, pushed, now, transaction)) > 0
  return () => {
    for (const each of arrived) announceArrived(events, each)
    for (const { quietUntil } of mailed) mailAlarm.at(quietUntil ?? now)
    if (isPushed) pushAlarm.ring()
  }
}

/** Publishes to one person that something arrived; reading it later is no arrival. */
const announceArrived = (events: Events, { id, createdAt, ...owner }: Arrived): void => events.announce(topicOf(owner), { id }, createdAt.getTime())

/** Registers the resync of notifications with listeners, because events may be lost between processes. */
export const resyncNotifications = (
  events: Events,
  arrivedSince: (ownerKey: string, since: Date) => Promise<readonly Pick<Arrived, 'id' | 'createdAt'>[]>,
): void =>
  events.resync(topics, async (ownerKey, since) =>
    (await arrivedSince(ownerKey, since)).map(({ id, createdAt }) => ({ ids: { id }, mark: createdAt.getTime() })),
  )
