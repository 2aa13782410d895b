import type { Logger } from 'pino'
import type { Ask } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Mail } from '../../engines/mail/mail.ts'
import { verifiedMailOf } from '../../engines/people/people.ts'
import type { DueMessage, MessageRow, Messages } from '../../stores/inbox/message.ts'
import { kindOf, mailOf, quietMailOf } from './texts.ts'

/** Maximum messages of one run, and those of one organization among them. */
const [atOnce, perParty] = [40, 10]
/** How long a message is put off that could not be written, in ms. */
const pauseMs = 10_000

/** What mails to people are written with. */
export interface MailWork extends Writing {
  readonly messages: Messages
  readonly mail: Mail
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Logger
  readonly dashboardUrl: string
}

/** Address of the page with a person's preferences. */
export const settingsUrl = (dashboardUrl: string): string => `${dashboardUrl}/settings`

/**
 * Writes the mails whose turn it is into the outbox, each in the transaction that removes its message: so each leaves
 * once, also when a process dies in between. One that cannot be written leaves the others.
 * @returns when to look again; null while that is not known
 */
export async function writeMails(job: MailWork): Promise<Date | null> {
  const { messages, clock, log } = job
  const now = clock.now()
  const next = await messages.next('MAIL')
  if (next === null || next > now) return next
  const due = await messages.due('MAIL', now, perParty, atOnce)
  const addresses = new Map<string, Promise<string | null>>()
  for (const { userId } of due) if (!addresses.has(userId)) addresses.set(userId, verifiedMailOf(job.ask, userId))
  // Each is awaited below, where its failure belongs to a message.
  for (const each of addresses.values()) each.catch(() => {})
  for (const message of due) {
    try {
      const to = await addresses.get(message.userId)!
      await inTransaction(job, unit => (message.quietUntil ? writeQuiet(job, message, to, unit) : writeOne(job, message, to, unit)))
    } catch (error) {
      log.warn({ err: error, messageId: message.id }, 'mail to a person not written; it is tried again')
      await messages.postpone(message.id, new Date(now.getTime() + pauseMs), null)
    }
  }
  return messages.next('MAIL')
}

async function writeOne({ messages, mail, dashboardUrl }: MailWork, { id }: DueMessage, to: string | null, unit: WriteTransaction): Promise<void> {
  const message = await messages.lockIfFree(id, unit.transaction)
  if (!message) return
  const { organizationId } = message
  if (to !== null) await mail.queue({ key: `message:${id}`, kind: kindOf([message]), organizationId, to, ...mailOf(message, settingsUrl(dashboardUrl)) }, unit)
  crash('launcher-message-queued')
  await messages.remove(message, unit.transaction)
}

/** Writes one mail of everything that waited for the end of a person's quiet hours and still stands. */
async function writeQuiet({ messages, mail, dashboardUrl }: MailWork, { userId }: DueMessage, to: string | null, unit: WriteTransaction): Promise<void> {
  const waiting = await messages.lockQuiet(userId, unit.now, unit.transaction)
  if (waiting.length === 0) return
  const ids = waiting.map(({ id }) => id)
  const standing = await messages.standing(ids, unit.transaction)
  const said = waiting.filter(({ id }) => standing.has(id))
  if (to !== null && said.length > 0)
    await mail.queue({ key: `quiet:${ids[0]}`, kind: kindOf(said), organizationId: accountOf(said), to, ...quietMailOf(said, settingsUrl(dashboardUrl)) }, unit)
  await messages.removeAll(ids, unit.transaction)
}

/** The organization on whose account a mail about several things is sent: theirs, or none where they are of several. */
const accountOf = (said: readonly MessageRow[]): string | null => {
  const [first] = said
  return first && said.every(({ organizationId }) => organizationId === first.organizationId) ? first.organizationId : null
}
