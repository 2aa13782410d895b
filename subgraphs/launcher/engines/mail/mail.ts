import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { codeOf } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { type HandedOver, openMailOutbox, type QueuedMail } from '../../stores/mail.ts'
import { openAlarm } from '../notify/alarm.ts'

/** Kinds of the launcher's mails, as their header `X-Supergraph-Mail` says. */
export type MailKind = 'action-item' | 'notification' | 'digest' | 'demo-booked' | 'demo-cancelled' | 'household-invitation' | 'lead'

/** What a mail says, and to whom. */
export interface MailContent {
  readonly to: string
  /** One line. */
  readonly subject: string
  readonly text: string
}

/** A mail to queue. */
export interface NewMail extends MailContent {
  readonly kind: MailKind
  /** What it is about, at most 200 characters: of mails with one key only the first is sent. */
  readonly key: string
  /** On whose account it is sent; null for the platform's. */
  readonly organizationId: string | null
}

/** A mail on its way to providers, under a key by which it is sent once however often it is handed over. */
export interface OutgoingMail extends MailContent {
  readonly kind: string
  readonly organizationId: string | null
  readonly idempotencyKey: string
}

/** Mails of the launcher. */
export interface Mail {
  /** Queues a mail in the transaction of what it is about: without a commit nothing is sent. */
  queue(mail: NewMail, unit: WriteTransaction): Promise<void>
  /** Hands due mails over to providers. Any number of processes may run it. */
  readonly sweep: Sweep
}

export interface MailOptions {
  readonly sequelize: Sequelize
  readonly cipher: Cipher
  readonly clock: Clock
  readonly log: Logger
  /** Hands a mail over to providers. @returns its id there */
  send(mail: OutgoingMail): Promise<string>
}

/** Lease of a mail in ms, maximum mails of one round, and those of one organization among them. */
const [leaseMs, atOnce, perOrganization] = [60_000, 20, 10]

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]
/** Pauses before a mail is handed over again, in ms; after the last it is given up. */
const pauses = [10 * secondMs, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs, 16 * hourMs] as const

/**
 * Returns when a mail is handed over again; null when it is given up, as is one that providers refuse for what it says.
 * @param attempts so far, 1 or more
 */
export function nextHandover(attempts: number, error: unknown, now: Date): Date | null {
  const pause = pauses[attempts - 1]
  return pause === undefined || codeOf(error) === 'BAD_USER_INPUT' ? null : new Date(now.getTime() + pause)
}

/**
 * Opens the outbox of mails. A mail is written down with what it is about and handed over within seconds; providers know
 * it by its key, so a process that dies between the handover and its record repeats it without a second mail.
 */
export function openMail({ sequelize, cipher, clock, log, send }: MailOptions): Mail {
  const outbox = openMailOutbox(sequelize, cipher)
  const alarm = openAlarm(clock)

  async function outcomeOf(mail: QueuedMail): Promise<HandedOver> {
    const { id, kind, organizationId, attempts } = mail
    try {
      const content = JSON.parse(outbox.contentOf(mail)) as MailContent
      return { messageId: await send({ ...content, kind, organizationId, idempotencyKey: `launcher:${id}` }), next: null }
    } catch (error) {
      const next = nextHandover(attempts, error, clock.now())
      log.warn(
        { err: error, mailId: id, kind, attempts },
        next ? 'mail not taken by providers; it is handed over again' : 'mail not taken by providers; given up',
      )
      return { messageId: null, next }
    }
  }

  async function handOver(mail: QueuedMail): Promise<void> {
    const outcome = await outcomeOf(mail)
    crash('launcher-mail-sent')
    await outbox.settle(mail.id, outcome)
    if (outcome.next) alarm.at(outcome.next)
  }

  return {
    async queue({ key, kind, organizationId, to, subject, text }, { now, transaction }) {
      const id = newId(now)
      const content = JSON.stringify({ to, subject, text } satisfies MailContent)
      if (await outbox.insert({ id, key, kind, organizationId, content }, now, transaction)) transaction.afterCommit(() => alarm.ring())
    },
    sweep: alarm.sweep({ name: 'mails', asksOthers: true }, async () => {
      const now = clock.now()
      const due = await outbox.take(now, new Date(now.getTime() + leaseMs), atOnce, perOrganization)
      const ended = await Promise.allSettled(due.map(handOver))
      for (const each of ended)
        if (each.status === 'rejected') log.error({ err: each.reason }, 'handover of a mail not recorded; it is repeated when its lease ends')
      // Others of one organization may be due when these were as many as it may have.
      return due.length >= perOrganization ? now : null
    }),
  }
}
