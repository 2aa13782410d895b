import { DomainError } from '../../../../platform/errors.ts'
import { readId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { create } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import { asksWithin, requireOperation } from '../../administration/caller.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, SendEmailInput } from '../../resolvers.generated.ts'
import type { Sender } from '../../stores/email/identity.ts'
import type { EmailMessageRow, Recipient } from '../../stores/email/message.ts'
import { sameAddress } from '../address.ts'
import { addressOf } from '../identity/rules.ts'
import { accountOf } from './account.ts'
import { requireRoom } from './bound.ts'
import { fromOf } from './compose.ts'
import { readEmail } from './input.ts'
import { outcomeOf } from './news.ts'
import { statusOf } from './rules.ts'

const things = 'Mails'

/**
 * Returns the sender of a mail. @throws NOT_FOUND for an identity of another organization; CONFLICT for one that may
 * not send
 */
async function senderOf({ senderIdentities }: Context, organizationId: string, identityId: string | null, { transaction }: WriteTransaction): Promise<Sender> {
  const sender = await senderIdentities.sender(organizationId, identityId, transaction)
  if (!sender && identityId !== null) throw notFound('sender identity', identityId)
  if (!sender)
    throw new DomainError('CONFLICT', 'There is no sender identity: create one below a VERIFIED domain, or ask the operator for one.', {
      field: 'identityId',
    })
  if (sender.domainStatus === 'VERIFIED') return sender
  throw new DomainError('CONFLICT', `Nothing leaves from ${sender.domain} while it is ${sender.domainStatus}: see its records, then verify it.`, {
    field: 'identityId',
    status: sender.domainStatus,
  })
}

/** Marks recipients that the organization has suppressed. */
async function withSuppressed({ emailSuppressions }: Context, organizationId: string, recipients: readonly Recipient[], { transaction }: WriteTransaction) {
  const addresses = recipients.map(({ address }) => sameAddress(address))
  const held = await emailSuppressions.among(organizationId, addresses, transaction)
  return recipients.map((each): Recipient => (held.has(sameAddress(each.address)) ? { ...each, outcome: 'SUPPRESSED' } : each))
}

/** Writes a mail down; once for each key, for ever. */
async function sendEmail(context: Context, input: SendEmailInput): Promise<EmailMessageRow> {
  const { viewer, emailMessages, mailing } = context
  const { organizationId, appId, pay } = await accountOf(context)
  const { recipients: given, subject, content, attachments } = readEmail(input, asksWithin(viewer))
  const identityId = readId(input.identityId, 'identityId')
  // A repeated key finds the mail on the account that paid for it, also for a caller that acts in no organization.
  const lock = (id: string, transaction: WriteTransaction['transaction']) => emailMessages.lockOfAccount(organizationId, id, transaction)
  const { row } = await create(context, {
    of: Object.create(emailMessages, { lock: { value: lock } }) as typeof emailMessages,
    once: input,
    tenantId: organizationId,
    async run(unit, id) {
      const { now } = unit
      const sender = await senderOf(context, organizationId, identityId, unit)
      const recipients = await withSuppressed(context, organizationId, given, unit)
      const status = statusOf(recipients)
      const replies = { ...content, replyTo: content.replyTo ?? sender.replyTo }
      const isQueued = status === null
      if (isQueued) await requireRoom(context, { organizationId, sender, recipients }, unit)
      // Comes last, because charging locks a row that all senders share.
      if (isQueued) await pay(unit)
      return {
        organizationId,
        id,
        identityId: sender.id,
        domainId: sender.domainId,
        appId,
        fromName: sender.displayName,
        fromAddress: addressOf(sender, sender),
        recipients,
        subject,
        content: isQueued ? emailMessages.seal(id, replies) : null,
        status: status ?? 'QUEUED',
        messageId: `<${id}@${sender.domain}>`,
        dueAt: isQueued ? now : null,
        createdAt: now,
        updatedAt: now,
        createdBy: actorOf(viewer),
      }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'email.sent', subjectId: id, details: { appId, recipients: given.length } }),
    facts: row => outcomeOf(null, row),
    async wake(row, { transaction, now }) {
      if (!row.dueAt) return
      await context.emailAttachments.keep(row, attachments, now, transaction)
      await mailing.wake(row, row.dueAt, transaction)
    },
  })
  return row
}

const addressesOf = ({ recipients }: EmailMessageRow, as: Recipient['as']): string[] => recipients.filter(each => each.as === as).map(({ address }) => address)

/**
 * Returns the app whose mails a viewer sees; null for all of the organization. A service sees its own mails only,
 * because a subject may contain a code.
 * @throws FORBIDDEN for a service that may not send mails
 */
async function senderSeen(context: Context): Promise<string | null> {
  const { viewer } = context
  activeOrganization(viewer, things)
  await requireOperation(context, 'EMAIL')
  return viewer.kind === 'service' ? viewer.appId! : null
}

export const messageResolvers: Resolvers = {
  Query: {
    async emailMessage(_, { id }, context) {
      const appId = await senderSeen(context)
      const row = await context.emailMessages.require(id)
      if (appId !== null && row.appId !== appId) throw notFound(context.emailMessages.what, id)
      return row
    },
    async emailMessages(_, { status, ...page }, context) {
      const appId = await senderSeen(context)
      activeOrganization(context.viewer, things)
      return context.emailMessages.filtered({ appId, status }, page)
    },
  },
  Mutation: {
    sendEmail: (_, { input }, context) => sendEmail(context, input),
  },
  EmailMessage: {
    __resolveReference: ({ id }, { emailMessages }) => emailMessages.byId.load(id),
    identity: ({ identityId }, _, { senderIdentities }) => senderIdentities.byId.load(identityId),
    from: fromOf,
    to: row => addressesOf(row, 'to'),
    cc: row => addressesOf(row, 'cc'),
    failure: ({ failureCode, failureMessage }) => (failureCode === null ? null : { code: failureCode, message: failureMessage ?? '' }),
    providerMessageId: ({ messageId, attempts }) => (attempts > 0 ? messageId : null),
  },
}
