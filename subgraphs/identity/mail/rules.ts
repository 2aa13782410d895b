/** Pauses in ms before a deferred or failed mail is tried again; after the last it is given up. */
export const retryAfterMs: readonly number[] = [5_000, 30_000, 300_000, 3_600_000]

/** Maximum mails of one kind to one address within a time in ms; further ones are silently dropped. */
export const perAddress = { most: 5, windowMs: 3_600_000 }

/** Time limits in ms of a conversation with the mail server. */
export const times = { connectMs: 10_000, talkMs: 30_000 }

/**
 * Time in ms for which a mail is reserved for one attempt: longer than an attempt may take. Afterwards the attempt
 * counts as dead, and another one begins.
 */
export const claimMs = 45_000

/** Lateness in ms from which a mail's code is checked again: a mail with an invalid link helps nobody. */
export const lateMs = 60_000

/** Returns when a mail is tried again after a number of failures; null for never. */
export const nextTry = (failures: number, now: Date): Date | null => {
  const ms = retryAfterMs[failures - 1]
  return ms === undefined ? null : new Date(now.getTime() + ms)
}
