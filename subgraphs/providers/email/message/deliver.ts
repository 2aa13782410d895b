import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import { crash } from '../../../../platform/crash.ts'
import { newId } from '../../../../platform/ids.ts'
import { isNoAddress, type Line, MailFault, type RefusedRecipient } from '../../../../platform/smtp/line.ts'
import { step } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { Departing, EmailMessageRow, Recipient } from '../../stores/email/message.ts'
import { sameAddress } from '../address.ts'
import { type Composed, compose } from './compose.ts'
import { outcomeOf } from './news.ts'
import { claimMs, conclude, type Result, type Settled, waiting } from './rules.ts'
import type { Servers } from './servers.ts'

/** Pause in ms for a mail that found all connections busy, or whose content this process cannot decrypt. */
const soonMs = 1_000
const lockedMs = 10_000

export interface DeliverOptions {
  readonly job: () => Job
  readonly servers: Servers
  readonly clock: Clock
  readonly log: Logger
}

/** A mail, with its recipients that were suppressed since it was written. */
interface Mail extends Departing {
  readonly held: Settled
}

/** Condition for writing a result: the mail is unchanged, or still has this attempt's claim. */
type Hold = { readonly seen: Departing } | { readonly claim: string }

const isHeld = (row: EmailMessageRow, hold: Hold): boolean =>
  'claim' in hold
    ? row.claim === hold.claim && ['SENDING', 'UNKNOWN'].includes(row.status)
    : row.status === hold.seen.status && row.attempts === hold.seen.attempts && row.dueAt?.getTime() === hold.seen.dueAt?.getTime()

/**
 * Makes the function that tries a mail: hands it to the server and stores the result. It may be called at any time, by
 * several workers, again after a crash: the row determines the next step. Once begun, a mail is sent again only if the
 * server has certainly not accepted it: a crash, or silence, leaves it UNKNOWN.
 * @returns from each call the time of the next attempt; null for never, or by another worker
 */
export function createDeliver({ job, servers, clock, log }: DeliverOptions): (messageId: string) => Promise<Date | null> {
  async function end(context: Job, { id, held }: Mail, hold: Hold, result: Result): Promise<Date | null> {
    const { emailMessages, emailSuppressions } = context
    const gone = 'settled' in result ? [...result.settled].filter(([, { outcome, answer }]) => outcome === 'REFUSED' && isNoAddress(answer ?? '')) : []
    const stepped = await step(context, {
      of: emailMessages,
      hold: id,
      decide(row, { now }) {
        if (!isHeld(row, hold)) return null
        return {
          changes: conclude(row, result, now, held),
          isNews: true,
          async along(unit) {
            const by = { organizationId: row.organizationId, reason: 'bounce', createdAt: unit.now, createdBy: 'email' }
            for (const [address] of gone) await emailSuppressions.ensure({ ...by, id: newId(unit.now), address: sameAddress(address) }, unit.transaction)
          },
        }
      },
      facts: ({ before, after }) => outcomeOf(before, after),
    })
    if (!stepped) return null
    const { status, attempts, failureCode, failureMessage, dueAt } = stepped.after
    if (failureCode)
      log[status === 'QUEUED' ? 'warn' : 'error']({ messageId: id, status, attempts, code: failureCode, reason: failureMessage }, 'a mail did not go through')
    return dueAt
  }

  async function handOver(context: Job, line: Line, mail: Mail, content: Composed): Promise<Date | null> {
    const to = waiting(mail.recipients).filter(({ address }) => !mail.held.has(address))
    const signature = { domain: mail.domain!, selector: mail.selector!, privateKey: openKey(context, mail) }
    const message = await compose(mail, content, signature)
    const now = clock.now()
    const claim = newId(now)
    const wasUsed = line.used
    if (!(await context.emailMessages.begin(mail.id, { now, until: new Date(now.getTime() + claimMs), claim }))) return null
    crash('after-email-claim')
    let result: Result
    try {
      const refused = await line.send({ from: mail.fromAddress, to: to.map(({ address }) => address) }, message)
      result = { settled: settledBy(refused, to, true) }
    } catch (error) {
      if (!(error instanceof MailFault)) throw error
      result = resultOf(error, to, wasUsed)
    }
    crash('after-email-taken')
    const again = await end(context, mail, { claim }, result)
    crash('after-email-written')
    return again
  }

  async function attempt(context: Job, mail: Mail, content: Composed): Promise<Date | null> {
    const seen = { seen: mail }
    // Mail from the platform's domain leaves by the platform's server, the only one allowed to send for it.
    const credential = await context.credentialsInUse.resolve('smtp', mail.isPlatforms ? null : mail.organizationId)
    if (!credential) return end(context, mail, seen, { putOff: 'there is no credential of smtp' })
    for (const [at, secret] of credential.secrets.entries()) {
      try {
        return await servers.of(credential, secret!).lend(line => {
          context.credentialsInUse.note(credential, secret!, 'taken')
          return handOver(context, line, mail, content)
        })
      } catch (error) {
        if (!(error instanceof MailFault)) throw error
        if (error.isBusy) return new Date(clock.now().getTime() + soonMs)
        if (error.isSignIn) context.credentialsInUse.note(credential, secret!, 'refused', error.message)
        if (error.isSignIn && at + 1 < credential.secrets.length) continue
        return end(context, mail, seen, { putOff: error.message })
      }
    }
    return null
  }

  /** Decrypts content and attachments; null when this process has none of the keys. */
  async function opened(context: Job, { id, content }: Departing): Promise<Composed | null> {
    const sealed = await context.emailAttachments.of(id)
    try {
      return { ...context.emailMessages.open(id, content!), attachments: sealed.map(each => context.emailAttachments.opened(each)) }
    } catch (err) {
      log.error({ messageId: id, err }, 'mail cannot be sent: the key that encrypted it is missing in ENCRYPTION_KEYS')
      return null
    }
  }

  return async id => {
    const context = job()
    const found = await context.emailMessages.departing(id)
    if (!found?.dueAt) return null
    if (found.dueAt > clock.now()) return found.dueAt
    // The process that began the attempt has died or lost the database.
    if (found.status === 'SENDING')
      return end(context, { ...found, held: new Map() }, { seen: found }, { lost: 'whoever handed it over did not say what became of it' })
    const mail = { ...found, held: await heldOf(context, found) }
    const stopped = obstacle(mail)
    if (stopped) return end(context, mail, { seen: mail }, stopped)
    const content = await opened(context, mail)
    if (!content) return new Date(clock.now().getTime() + lockedMs)
    return attempt(context, mail, content)
  }
}

/** Returns the result after a server has rejected a mail, or was silent. */
function resultOf(fault: MailFault, to: readonly Recipient[], wasUsed: boolean): Result {
  if (fault.isUnknown) return { lost: fault.message }
  const failure = { code: 'REFUSED', message: fault.message } as const
  if (fault.refused.length > 0) return { settled: settledBy(fault.refused, to, false), failure }
  if (fault.isFinal) return { settled: new Map(to.map(({ address }) => [address, { outcome: 'REFUSED', answer: fault.message }])), failure }
  // The kept connection was closed by the server before any of the mail was sent, so another one is used.
  if (wasUsed && fault.isUntouched) return { putOff: fault.message, counted: false }
  return { putOff: fault.message }
}

/** Returns the recipients that are suppressed by now. */
async function heldOf({ emailSuppressions }: Job, { organizationId, recipients }: Departing): Promise<Settled> {
  const to = waiting(recipients)
  const found = await emailSuppressions.among(
    organizationId,
    to.map(({ address }) => sameAddress(address)),
  )
  return new Map(to.filter(({ address }) => found.has(sameAddress(address))).map(({ address }) => [address, { outcome: 'SUPPRESSED', answer: null }]))
}

/** Returns the reason against sending; null for none. */
function obstacle({ domainStatus, recipients, held }: Mail): Result | null {
  if (domainStatus === null || domainStatus === 'SUSPENDED')
    return { givenUp: { code: 'SENDER_WITHDRAWN', message: 'the domain that it is from is gone or suspended' } }
  if (domainStatus !== 'VERIFIED') return { putOff: 'the records of the domain that it is from are not all found' }
  return held.size === waiting(recipients).length ? { settled: held } : null
}

const openKey = (context: Job, { domainId, privateKey }: Departing): string => context.senderDomains.openKey({ id: domainId, privateKey: privateKey! })

/** Returns the results for each recipient. @param taken whether recipients without an answer have received the mail */
function settledBy(refused: readonly RefusedRecipient[], to: readonly Recipient[], taken: boolean) {
  const said = new Map(refused.map(each => [sameAddress(each.recipient), each]))
  const settled = new Map<string, Pick<Recipient, 'outcome' | 'answer'>>()
  for (const { address } of to) {
    const refusal = said.get(sameAddress(address))
    if (!refusal) {
      if (taken) settled.set(address, { outcome: 'SENT', answer: null })
    } else if (refusal.isFinal) settled.set(address, { outcome: 'REFUSED', answer: refusal.answer })
  }
  return settled
}
