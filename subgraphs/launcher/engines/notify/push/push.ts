import type { Logger } from 'pino'
import { doForOrganization } from '../../../../../platform/caller/cause.ts'
import type { Cipher } from '../../../../../platform/cipher.ts'
import type { Clock } from '../../../../../platform/clock.ts'
import { crash } from '../../../../../platform/crash.ts'
import type { Sweep } from '../../../../../platform/jobs/queue.ts'
import type { CallersWay } from '../../../../../platform/outbound/callers.ts'
import { OutboundFailure } from '../../../../../platform/outbound/failure.ts'
import type { Writing } from '../../../../store/books.ts'
import { inTransaction } from '../../../../store/write.ts'
import type { DueMessage, MessageRow, Messages } from '../../../stores/inbox/message.ts'
import { placeOfSubscription, type pushSubscriptionStore } from '../../../stores/inbox/push-subscription.ts'
import { type Alarm, openAlarm } from '../alarm.ts'
import { type Answered, afterAnswer, payloadOf, pushTopicOf, ttlSeconds, urgencyOf } from './rules.ts'
import type { Vapid } from './vapid.ts'

/** A browser that takes push messages, as the browser describes itself. */
export interface Subscribed {
  readonly endpoint: string
  /** The browser's public key, and the secret that it shares with us: base64url. */
  readonly p256dh: string
  readonly auth: string
}

export interface PushOptions {
  readonly vapid: Vapid
  /** The way to addresses that callers give: public ones. */
  readonly way: CallersWay
  readonly cipher: Cipher
  readonly clock: Clock
  readonly log: Logger
  readonly dashboardUrl: string
}

/** What a push message is sent with. */
export interface PushWork extends Writing {
  readonly messages: Messages
  readonly pushSubscriptions: ReturnType<typeof pushSubscriptionStore.open>
}

/** Sends push messages to people's browsers. */
export interface Push {
  readonly alarm: Alarm
  readonly vapid: Vapid
  /** Encrypts what a browser says of itself, for its row. */
  seal(id: string, subscribed: Subscribed): string
  /** Sends what is due. Any number of processes may run it. */
  sweep(job: () => PushWork): Sweep
  /** Resolves when no message is under way any more. */
  ended(): Promise<void>
}

/** Time limit of a push service in ms, and the time after which a message counts as interrupted. */
const [timeoutMs, leaseMs] = [10_000, 60_000]
/** Maximum messages under way in a process, and those of one organization among them. */
const [maxRunning, maxOfParty] = [32, 4]

const partyOf = ({ organizationId, userId }: Pick<DueMessage, 'organizationId' | 'userId'>): string => organizationId ?? userId

/** Opens the sender. Messages are sent beside the sweep, so that a push service which is slow holds up no other organization. */
export function openPush({ vapid, way, cipher, clock, log, dashboardUrl }: PushOptions): Push {
  const alarm = openAlarm(clock)
  const running = new Map<Promise<void>, string>()

  async function call({ subscriptionId, ...message }: MessageRow, sealed: string): Promise<Answered> {
    const { endpoint, p256dh, auth } = JSON.parse(cipher.open(sealed, placeOfSubscription(subscriptionId!))) as Subscribed
    try {
      const { default: webPush } = await import('web-push')
      const { cipherText } = webPush.encrypt(p256dh, auth, payloadOf(message, dashboardUrl), 'aes128gcm')
      // The name may resolve elsewhere than when it was stored, and internal addresses must never be called.
      if (!(await way.reaches(new URL(endpoint)))) return { status: 404, retryAfter: null }
      const { status, headers } = await way.outbound(endpoint, {
        method: 'POST',
        timeoutMs,
        body: cipherText,
        headers: {
          authorization: await vapid.authorization(endpoint),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          ttl: String(ttlSeconds(message, clock.now())),
          urgency: urgencyOf(message),
          topic: pushTopicOf(message),
        },
      })
      return { status, retryAfter: headers.get('retry-after') }
    } catch (error) {
      if (!(error instanceof OutboundFailure)) log.error({ err: error, messageId: message.id }, 'push message could not be encrypted or sent; it is retried')
      return { status: null, retryAfter: null }
    }
  }

  /** Makes one attempt: it is counted before the call and concluded after it, so a crash in between repeats the message. */
  async function deliver(job: PushWork, { id }: DueMessage): Promise<void> {
    const { messages, pushSubscriptions } = job
    const begun = await inTransaction(job, async ({ transaction, now }) => {
      const message = await messages.lockIfFree(id, transaction)
      // Another process was quicker.
      if (!message || message.nextAttemptAt > now) return null
      await messages.postpone(id, new Date(now.getTime() + leaseMs), transaction)
      return { ...message, attempts: message.attempts + 1 }
    })
    if (!begun) return
    const subscription = await pushSubscriptions.find(begun.subscriptionId)
    if (!subscription) return
    const answered = await doForOrganization(partyOf(begun), () => call(begun, subscription.sealed))
    crash('launcher-push-answered')
    const now = clock.now()
    const outcome = afterAnswer(answered, begun, now)
    if (outcome.refused) log.warn({ messageId: id, status: answered.status, attempts: begun.attempts }, `push message ${outcome.refused}`)
    await inTransaction(job, async ({ transaction }) => {
      if (outcome.isGone) await pushSubscriptions.end(subscription.id, transaction)
      else if (outcome.next === null) await messages.removeAll([id], transaction)
      else await messages.retry(id, outcome.next, transaction)
    })
    if (outcome.next) alarm.at(outcome.next)
  }

  function start(work: PushWork, message: DueMessage): void {
    const sending: Promise<void> = deliver(work, message)
      .catch(error => log.error({ err: error, messageId: message.id }, 'push message not sent; it is tried again'))
      .finally(() => {
        running.delete(sending)
        // Others of the organization may wait for the place.
        alarm.ring()
      })
    running.set(sending, partyOf(message))
  }

  const countOf = (party: string): number => [...running.values()].filter(each => each === party).length

  return {
    ...{ alarm, vapid },
    seal: (id, { endpoint, p256dh, auth }) => cipher.seal(JSON.stringify({ endpoint, p256dh, auth } satisfies Subscribed), placeOfSubscription(id)),
    ended: async () => void (await Promise.all(running.keys())),
    sweep: job =>
      alarm.sweep({ name: 'push messages' }, async () => {
        if (running.size >= maxRunning) return null
        const work = job()
        const now = clock.now()
        const next = await work.messages.next('PUSH')
        if (next === null || next > now) return next
        for (const message of await work.messages.due('PUSH', now, maxOfParty, maxRunning - running.size))
          if (countOf(partyOf(message)) < maxOfParty) start(work, message)
        return null
      }),
  }
}
