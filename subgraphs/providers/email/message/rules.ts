import type { EmailMessageRow, EmailStatus, Recipient, RecipientOutcome } from '../../stores/email/message.ts'

/** Pauses in ms before a deferred or undelivered mail is tried again; after the last it has failed. */
export const retryAfterMs: readonly number[] = [5_000, 30_000, 300_000, 1_800_000, 7_200_000]

/** Time limits in ms of a conversation with a mail server. */
export const times = { connectMs: 10_000, talkMs: 30_000 }

/**
 * Time in ms for which a mail is reserved for one attempt: longer than that may take. Afterwards the mail's outcome
 * counts as unknown.
 */
export const claimMs = 45_000

/** Returns when a mail is tried again after a number of attempts; null for never. */
export const nextTry = (attempts: number, now: Date): Date | null => {
  const ms = retryAfterMs[attempts - 1]
  return ms === undefined ? null : new Date(now.getTime() + ms)
}

/** State machine of a mail. Rows are states, columns are verbs. */
export const transitions = {
  QUEUED: { begin: 'SENDING', suppress: 'SUPPRESSED', putOff: 'QUEUED', giveUp: 'FAILED', refuse: 'BOUNCED' },
  SENDING: {
    send: 'SENT',
    putOff: 'QUEUED',
    refuse: 'BOUNCED',
    giveUp: 'FAILED',
    lose: 'UNKNOWN',
    deliver: 'DELIVERED',
    bounce: 'BOUNCED',
    complain: 'COMPLAINED',
  },
  SENT: { deliver: 'DELIVERED', bounce: 'BOUNCED', complain: 'COMPLAINED' },
  DELIVERED: { bounce: 'BOUNCED', complain: 'COMPLAINED' },
  BOUNCED: { complain: 'COMPLAINED' },
  // A delivery report proves delivery, also of a mail whose outcome was unknown.
  UNKNOWN: { send: 'SENT', deliver: 'DELIVERED', bounce: 'BOUNCED', complain: 'COMPLAINED' },
  COMPLAINED: {},
  SUPPRESSED: {},
  FAILED: {},
} as const satisfies Readonly<Record<EmailStatus, Readonly<Record<string, EmailStatus>>>>

/** Outcomes of recipients, the most important first. */
const weight: readonly RecipientOutcome[] = ['COMPLAINED', 'BOUNCED', 'UNKNOWN', 'DELIVERED', 'SENT', 'REFUSED', 'FAILED', 'SUPPRESSED']

/** Returns a mail's state when every recipient has an outcome; null while it is to be sent to some. */
export function statusOf(recipients: readonly Recipient[]): EmailStatus | null {
  if (recipients.some(({ outcome }) => outcome === null)) return null
  const worst = weight.find(each => recipients.some(({ outcome }) => outcome === each))!
  return worst === 'REFUSED' ? 'BOUNCED' : worst
}

/** Returns the recipients without an outcome. */
export const waiting = (recipients: readonly Recipient[]): readonly Recipient[] => recipients.filter(({ outcome }) => outcome === null)

/** Why an attempt failed, for people. */
export interface Failure {
  readonly code: 'REFUSED' | 'PUT_OFF' | 'GAVE_UP' | 'OUTCOME_UNKNOWN' | 'SENDER_WITHDRAWN' | 'BOUNCED' | 'COMPLAINED'
  readonly message: string
}

/** Result of an attempt. */
export type Result =
  /** Outcomes of some or all recipients, by address. The others are tried again. */
  | { readonly settled: Settled; readonly failure?: Failure }
  /**
   * The mail was not delivered and is tried again. @param counted false if no attempt was made @param at time of the
   * next attempt, if not by the rule
   */
  | { readonly putOff: string; readonly counted?: boolean; readonly at?: Date }
  /** The mail will never be delivered. */
  | { readonly givenUp: Failure }
  /** Whether recipients received it is unknown. */
  | { readonly lost: string }

type Changes = Partial<EmailMessageRow>

const over = { dueAt: null, claim: null, content: null } as const

const settleAll = (recipients: readonly Recipient[], outcome: RecipientOutcome): readonly Recipient[] =>
  recipients.map(each => (each.outcome === null ? { ...each, outcome } : each))

const failed = ({ code, message }: Failure): Changes => ({ failureCode: code, failureMessage: message.slice(0, 500) })

/** Returns a mail in a final state. */
const ended = (row: EmailMessageRow, recipients: readonly Recipient[], now: Date, failure?: Failure): Changes => {
  const status = statusOf(recipients)!
  const isTaken = ['SENT', 'DELIVERED'].includes(status)
  return {
    ...over,
    recipients,
    status,
    ...(recipients.some(({ outcome }) => outcome === 'SENT') && { sentAt: row.sentAt ?? now }),
    ...(failure ? failed(failure) : isTaken && { failureCode: null, failureMessage: null }),
  }
}

/** Returns a mail that waits for its next attempt, or has failed after its last. */
function waitOrFail(
  row: EmailMessageRow,
  recipients: readonly Recipient[],
  now: Date,
  message: string,
  { counted = true, at }: { counted?: boolean; at?: Date } = {},
): Changes {
  // An attempt is counted when it begins.
  const attempts = row.status === 'SENDING' ? row.attempts - (counted ? 0 : 1) : row.attempts + (counted ? 1 : 0)
  const next = counted ? nextTry(attempts, now) : (at ?? now)
  if (next) return { status: 'QUEUED', recipients, attempts, dueAt: next, claim: null, ...(counted && failed({ code: 'PUT_OFF', message })) }
  return { attempts, ...ended(row, settleAll(recipients, 'FAILED'), now, { code: 'GAVE_UP', message }) }
}

/** Outcomes by address. */
export type Settled = ReadonlyMap<string, Pick<Recipient, 'outcome' | 'answer'>>

/**
 * Returns a mail's state after an attempt.
 * @param found its present row, QUEUED or SENDING
 * @param held recipients that were skipped because they were suppressed since it was written
 */
export function conclude(found: EmailMessageRow, result: Result, now: Date, held: Settled = new Map()): Changes {
  const row = { ...found, recipients: found.recipients.map(each => (each.outcome === null ? { ...each, ...held.get(each.address) } : each)) }
  if ('lost' in result) return { ...ended(row, settleAll(row.recipients, 'UNKNOWN'), now, { code: 'OUTCOME_UNKNOWN', message: result.lost }), claim: row.claim }
  if ('givenUp' in result) return ended(row, settleAll(row.recipients, 'FAILED'), now, result.givenUp)
  if ('putOff' in result) return waitOrFail(row, row.recipients, now, result.putOff, result)
  const recipients = row.recipients.map(each => (each.outcome === null || each.outcome === 'UNKNOWN' ? { ...each, ...result.settled.get(each.address) } : each))
  if (statusOf(recipients) === null) return waitOrFail(row, recipients, now, result.failure?.message ?? 'the mail server put some recipients off')
  return ended(row, recipients, now, result.failure)
}

/** Reports of a mail server. */
export type Report = 'bounce' | 'complaint' | 'delivered'

const outcomes = { bounce: 'BOUNCED', complaint: 'COMPLAINED', delivered: 'DELIVERED' } as const satisfies Record<Report, RecipientOutcome>

/** Outcomes of a recipient that a report may follow. */
const mayFollow: Readonly<Record<Report, readonly (RecipientOutcome | null)[]>> = {
  delivered: [null, 'SENT', 'UNKNOWN'],
  bounce: [null, 'SENT', 'UNKNOWN', 'DELIVERED'],
  complaint: [null, 'SENT', 'UNKNOWN', 'DELIVERED', 'BOUNCED'],
}

/**
 * Returns a mail's changes after a report.
 * @param address of the named recipient, as in the mail
 * @returns null for no news, or a recipient of another mail
 */
export function hear(row: EmailMessageRow, report: Report, address: string, now: Date): Changes | null {
  const outcome = outcomes[report]
  const named = row.recipients.find(each => each.address === address)
  if (!named || !mayFollow[report].includes(named.outcome)) return null
  // A report about a mail that was never attempted is ignored.
  if (named.outcome === null && row.status !== 'SENDING') return null
  const recipients = row.recipients.map(each => (each === named ? { ...each, outcome } : each))
  const failure = report === 'delivered' ? {} : failed({ code: outcome as 'BOUNCED' | 'COMPLAINED', message: `reported by the mail server as ${report}` })
  const status = statusOf(recipients)
  // The mail is still pending for other recipients.
  if (status === null) return { recipients }
  const cleared = row.status === 'UNKNOWN' && report === 'delivered' && status === 'DELIVERED' ? { failureCode: null, failureMessage: null } : {}
  return { ...over, recipients, status, sentAt: row.sentAt ?? now, ...cleared, ...failure }
}
