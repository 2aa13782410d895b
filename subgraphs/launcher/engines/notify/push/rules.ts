import type { MessageRow } from '../../../stores/inbox/message.ts'

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]
/** How long a message is worth something, in ms: afterwards the dashboard says it. */
const worthMs = 24 * hourMs
/** Pauses before a message is sent again, in ms. */
const pauses = [10 * secondMs, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 6 * hourMs] as const
/** Maximum bytes of what is encrypted: push services take messages of 4,096 bytes in all (RFC 8030, section 7.2). */
const maxBytes = 3_000
const maxTitle = 500

/** Answer of a push service; without a status none came. */
export interface Answered {
  readonly status: number | null
  /** Of the header `Retry-After`. */
  readonly retryAfter: string | null
}

/** What becomes of a message. */
export interface Outcome {
  /** Whether the subscription has ended. */
  readonly isGone: boolean
  /** When the message is sent again; null: not. */
  readonly next: Date | null
  /** Why the message was not taken, for the log; null when it was. */
  readonly refused: string | null
}

/** Returns the ms that a push service asks to wait; 0 where it does not say. */
function waitOf(retryAfter: string | null, now: Date): number {
  if (retryAfter === null) return 0
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * secondMs : Date.parse(retryAfter) - now.getTime()
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}

/** Returns what becomes of a message after an answer. @param attempts so far, 1 or more */
export function afterAnswer({ status, retryAfter }: Answered, { attempts, createdAt }: Pick<MessageRow, 'attempts' | 'createdAt'>, now: Date): Outcome {
  if (status !== null && status >= 200 && status < 300) return { isGone: false, next: null, refused: null }
  if (status === 404 || status === 410) return { isGone: true, next: null, refused: 'refused: the subscription has ended' }
  const isPassing = status === null || status === 408 || status === 425 || status === 429 || status >= 500
  const pause = pauses[attempts - 1]
  const next = pause === undefined ? null : new Date(now.getTime() + Math.max(pause, waitOf(retryAfter, now)))
  if (!isPassing) return { isGone: false, next: null, refused: 'refused for what it is; it is given up' }
  if (next === null || next.getTime() - createdAt.getTime() > worthMs) return { isGone: false, next: null, refused: 'given up' }
  return { isGone: false, next, refused: 'not taken; it is sent again' }
}

/** Returns how long a push service keeps a message for a browser that is away, in seconds. */
export const ttlSeconds = ({ createdAt }: Pick<MessageRow, 'createdAt'>, now: Date): number =>
  Math.max(0, Math.floor((createdAt.getTime() + worthMs - now.getTime()) / secondMs))

const urgencies = { CRITICAL: 'high', HIGH: 'high', NORMAL: 'normal', LOW: 'low' } as const

/** Returns how soon a message has to reach a browser that saves its battery (RFC 8030, section 5.3). */
export const urgencyOf = ({ severity }: Pick<MessageRow, 'severity'>): string => urgencies[severity]

/** Returns the id of what a message says: the action item or notification, which several messages may be about. */
const subjectOf = ({ id, itemId, notificationId }: Pick<MessageRow, 'id' | 'itemId' | 'notificationId'>): string => itemId ?? notificationId ?? id

/**
 * Returns the topic of a message: a push service that still keeps one of the same topic for a browser replaces it, so a
 * repetition after a crash reaches the browser once (RFC 8030, section 5.4: up to 32 characters of base64url).
 */
export const pushTopicOf = (message: Parameters<typeof subjectOf>[0]): string => subjectOf(message).replaceAll('-', '')

/** Returns what a browser shows. @param dashboardUrl where it leads when the message has no address of its own, or one that is too long */
export function payloadOf(message: Pick<MessageRow, 'id' | 'itemId' | 'notificationId' | 'kind' | 'title' | 'url'>, dashboardUrl: string): string {
  const { kind, title, url } = message
  const shown = { id: subjectOf(message), kind, title: [...title].slice(0, maxTitle).join(''), url: url ?? dashboardUrl }
  const text = JSON.stringify(shown)
  if (Buffer.byteLength(text) <= maxBytes) return text
  return JSON.stringify({ ...shown, title: [...title].slice(0, 100).join(''), url: shown.url.length <= 1_000 ? shown.url : dashboardUrl })
}
