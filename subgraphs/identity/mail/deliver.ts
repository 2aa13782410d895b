import type { Logger } from 'pino'
import type { Cipher } from '../../../platform/cipher.ts'
import type { Clock } from '../../../platform/clock.ts'
import { crash } from '../../../platform/crash.ts'
import { newId } from '../../../platform/ids.ts'
import { type Line, MailFault } from '../../../platform/smtp/line.ts'
import type { Lines } from '../../../platform/smtp/lines.ts'
import { compose, type Sender } from './compose.ts'
import type { MailFigures } from './figures.ts'
import { claimMs, lateMs, nextTry } from './rules.ts'
import { codePlace } from './send.ts'
import type { MailRow, MailStore } from './store.ts'

/** Time in ms after which a mail is tried again that found all connections busy. */
const soonMs = 1_000
/**
 * Time in ms after which a mail is tried again whose code cannot be decrypted here: another process may have the key.
 */
const lockedMs = 10_000

/** Dependencies of sending mails. */
export interface DeliverOptions {
  readonly store: MailStore
  /** Connections to the mail server; null without one: then mails are given up, with a line in the log. */
  readonly lines: Lines | null
  readonly sender: Sender
  readonly publicUrl: string
  readonly cipher: Cipher
  readonly clock: Clock
  readonly figures: MailFigures
  readonly log: Logger
}

/**
 * Creates the function that delivers a mail: it claims the mail, sends it, and stores the result. It may be called at
 * any time, by several workers, again after a crash: the row determines the next step. Only a crash between the
 * server's answer and the update of the row sends a mail twice, with the same Message-ID.
 * @returns from each call the time of the next attempt; null for none, or when another worker has the mail
 */
export function createDeliver({ store, lines, sender, publicUrl, cipher, clock, figures, log }: DeliverOptions): (mailId: string) => Promise<Date | null> {
  async function fail(mail: MailRow, fault: MailFault): Promise<Date | null> {
    const { id: mailId, kind } = mail
    const now = clock.now()
    const again = fault.isFinal ? null : nextTry(mail.failures + 1, now)
    if (again) {
      await store.putOff(mail, again, { counts: true })
      figures.tried(kind, 'put_off')
      log.warn({ mailId, kind, failures: mail.failures + 1, again, reason: fault.message }, 'mail not sent; it will be retried')
      return again
    }
    await store.end(mail, 'given_up', now)
    figures.tried(kind, 'given_up')
    log.error({ mailId, kind, failures: mail.failures + 1, reason: fault.message }, 'mail failed for good')
    return null
  }

  async function end(mail: MailRow, outcome: 'outdated'): Promise<null> {
    await store.end(mail, outcome, clock.now())
    figures.tried(mail.kind, outcome)
    return null
  }

  async function take(id: string): Promise<MailRow | null> {
    const now = clock.now()
    return store.take(id, { now, until: new Date(now.getTime() + claimMs), claim: newId(now) })
  }

  /** Returns the clear code of a mail; null where it has none, false when this process cannot decrypt it. */
  function opened({ id: mailId, kind, code }: MailRow): string | null | false {
    try {
      return code === null ? null : cipher.open(code, codePlace(mailId))
    } catch (err) {
      log.error({ mailId, kind, err }, 'mail cannot be sent: the key that encrypted its code is missing in ENCRYPTION_KEYS')
      return false
    }
  }

  async function attempt(mail: MailRow, line: Line): Promise<Date | null> {
    crash('after-mail-claim')
    const wasUsed = line.used
    const isLate = mail.failures > 0 || clock.now().getTime() - mail.createdAt.getTime() > lateMs
    if (isLate && !mail.stands) return end(mail, 'outdated')
    const code = opened(mail)
    if (code === false) {
      // A missing encryption key is our own failure and mended by a restart: the mail waits while its code is valid.
      const again = new Date(clock.now().getTime() + lockedMs)
      await store.putOff(mail, again, { counts: false })
      return again
    }
    try {
      const message = await compose(publicUrl, sender, { ...mail, code })
      await line.send({ from: sender.address, to: mail.recipient }, message)
    } catch (error) {
      if (!(error instanceof MailFault)) throw error
      if (!wasUsed || !error.isUntouched || error.isFinal) return fail(mail, error)
      // The kept connection was closed by the server before any of the mail was sent, so another one is used.
      const now = clock.now()
      await store.putOff(mail, now, { counts: false })
      return now
    }
    crash('after-mail-taken')
    await store.end(mail, 'sent', clock.now())
    crash('after-mail-written')
    figures.tried(mail.kind, 'sent')
    figures.left(clock.now().getTime() - mail.createdAt.getTime())
    return null
  }

  return async id => {
    const due = await store.dueAt(id)
    if (!due) return null
    if (due > clock.now()) return due
    if (!lines) {
      const mail = await take(id)
      return mail && fail(mail, new MailFault('there is no mail server', { isFinal: true }))
    }
    try {
      return await lines.lend(async line => {
        const mail = await take(id)
        return mail && attempt(mail, line)
      })
    } catch (error) {
      if (!(error instanceof MailFault)) throw error
      if (error.isBusy) return new Date(clock.now().getTime() + soonMs)
      // No connection to the server was available.
      const mail = await take(id)
      return mail && fail(mail, error)
    }
  }
}
