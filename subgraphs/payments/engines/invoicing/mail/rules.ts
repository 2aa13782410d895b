import type { InvoiceMailRow, InvoiceMailStatus } from '../../../stores/invoicing/mail.ts'

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]
/** After how long a mail is handed over again that nobody took, in ms: then it has failed. */
const tries = [10 * secondMs, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 16 * hourMs] as const
/** After how long providers are asked what became of a mail, in ms; then each hour, for three days. */
const looks = [15 * secondMs, 2 * minuteMs, 15 * minuteMs] as const
const lookedForMs = 72 * hourMs

/** When a mail is handed over again that could not be; null: it has failed. @param attempts so far, 1 or more */
export function nextHandover(attempts: number, now: Date): Date | null {
  const ms = tries[attempts - 1]
  return ms === undefined ? null : new Date(now.getTime() + ms)
}

/** When providers are asked next what became of a mail that they have; null: nobody knows, and nobody is asked any more. */
export function nextLook({ attempts, createdAt }: Pick<InvoiceMailRow, 'attempts' | 'createdAt'>, now: Date): Date | null {
  if (now.getTime() - createdAt.getTime() > lookedForMs) return null
  return new Date(now.getTime() + (looks[attempts - 1] ?? hourMs))
}

const ends: Readonly<Record<string, InvoiceMailStatus>> = {
  SENT: 'SENT',
  DELIVERED: 'SENT',
  BOUNCED: 'FAILED',
  COMPLAINED: 'FAILED',
  SUPPRESSED: 'FAILED',
  FAILED: 'FAILED',
  UNKNOWN: 'UNKNOWN',
}

/** What a status of providers means here: a mail that they still have is QUEUED. */
export const statusOf = (said: string): InvoiceMailStatus => ends[said] ?? 'QUEUED'
