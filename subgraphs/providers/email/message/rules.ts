import type { EmailMessageRow, EmailStatus, Recipient, RecipientOutcome } from '../../stores/email/message.ts'

/** After how many ms a mail is tried again that the server put off or that did not get there; after the last it has failed. */
export const retryAfterMs: readonly number[] = [5_000, 30_000, 300_000, 1_800_000, 7_200_000]

/** How long one conversation with a mail server may take, in ms. */
export const times = { connectMs: 10_000, talkMs: 30_000 }

/** For how long a mail belongs to the try that hands it over, in ms: longer than that may take. After this time the mail's outcome counts as unknown. */
export const claimMs = 45_000

/** When a mail is to be tried again that was tried so often; null: never. */
export const nextTry = (attempts: number, now: Date): Date | null => {
  const ms = retryAfterMs[attempts - 1]
  return ms === undefined ? null : new Date(now.getTime() + ms)
}

/** What may happen to a mail. Rows are states, columns are verbs. */
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

/** Of several recipients the news that matters most, first. */
const weight: readonly RecipientOutcome[] = ['COMPLAINED', 'BOUNCED', 'UNKNOWN', 'DELIVERED', 'SENT', 'REFUSED', 'FAILED', 'SUPPRESSED']

/** Where a mail stands once something became of it for each of its recipients; null while it is to be sent to some. */
export function statusOf(recipients: readonly Recipient[]): EmailStatus | null {
  if (recipients.some(({ outcome }) => outcome === null)) return null
  const worst = weight.find(each => recipients.some(({ outcome }) => outcome === each))!
  return worst === 'REFUSED' ? 'BOUNCED' : worst
}

/** To whom it is to be sent still. */
export const waiting = (recipients: readonly Recipient[]): readonly Recipient[] => recipients.filter(({ outcome }) => outcome === null)

/** What a try has shown: why it did not go through, for people. */
export interface Failure {
  readonly code: 'REFUSED' | 'PUT_OFF' | 'GAVE_UP' | 'OUTCOME_UNKNOWN' | 'SENDER_WITHDRAWN' | 'BOUNCED' | 'COMPLAINED'
  readonly message: string
}

/** What came of a try. */
export type Result =
  /** It is settled for some recipients, or for all: by address what became of it. Whoever is not named is tried again. */
  | { readonly settled: Settled; readonly failure?: Failure }
  /** Nobody has it, and it is tried again. @param counted false: it was no try @param at when, if not by the rule */
  | { readonly putOff: string; readonly counted?: boolean; readonly at?: Date }
  /** Nobody will ever have it. */
  | { readonly givenUp: Failure }
  /** Nobody knows whether they have it. */
  | { readonly lost: string }

type Changes = Partial<EmailMessageRow>

const over = { dueAt: null, claim: null, content: null } as const

const settleAll = (recipients: readonly Recipient[], outcome: RecipientOutcome): readonly Recipient[] =>
  recipients.map(each => (each.outcome === null ? { ...each, outcome } : each))

const failed = ({ code, message }: Failure): Changes => ({ failureCode: code, failureMessage: message.slice(0, 500) })

/** A mail in a final state, with its result. */
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

/** It waits for its next try, or has failed when it had its last. */
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

/** What became of a mail, by address. */
export type Settled = ReadonlyMap<string, Pick<Recipient, 'outcome' | 'answer'>>

/**
 * What becomes of a mail by a try.
 * @param found as it stands, QUEUED or SENDING
 * @param held those to whom it was not sent because they are suppressed since it was written
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

/** What a mail server may report. */
export type Report = 'bounce' | 'complaint' | 'delivered'

const outcomes = { bounce: 'BOUNCED', complaint: 'COMPLAINED', delivered: 'DELIVERED' } as const satisfies Record<Report, RecipientOutcome>

/** What a report may follow on, for one recipient. */
const mayFollow: Readonly<Record<Report, readonly (RecipientOutcome | null)[]>> = {
  delivered: [null, 'SENT', 'UNKNOWN'],
  bounce: [null, 'SENT', 'UNKNOWN', 'DELIVERED'],
  complaint: [null, 'SENT', 'UNKNOWN', 'DELIVERED', 'BOUNCED'],
}

/**
 * What a report makes of a mail.
 * @param address of the recipient whom it names, as the mail has it
 * @returns null when it says nothing new, or of somebody whom the mail never went to
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
