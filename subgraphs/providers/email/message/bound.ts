import { DomainError } from '../../../../platform/errors.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { Context } from '../../context.ts'
import type { Sender } from '../../stores/email/identity.ts'
import type { Recipient } from '../../stores/email/message.ts'
import { sameAddress } from '../address.ts'

/** Maximum mails a day by people of one organization to the same address in the platform's name. */
const mostToOne = 20

const dayMs = 24 * 3_600_000

/**
 * Limits mails in the platform's name, because anyone can create an organization. Services, and organizations with a
 * proven domain, are exempt.
 * @throws RATE_LIMITED with `retryAfter`
 */
export async function requireRoom(
  { viewer, emailMessages, quotas }: Context,
  { organizationId, sender, recipients }: { readonly organizationId: string; readonly sender: Sender; readonly recipients: readonly Recipient[] },
  { transaction, now }: WriteTransaction,
): Promise<void> {
  if (viewer.kind === 'service' || sender.level !== 'PLATFORM') return
  const addresses = recipients.map(({ address }) => sameAddress(address))
  const written = await emailMessages.ofPeople({ organizationId, since: new Date(now.getTime() - dayMs), addresses }, transaction)
  const most = quotas.mailsFromPlatformADay
  const retryAfter = Math.max(1, Math.ceil(((written.since ?? now).getTime() + dayMs - now.getTime()) / 1000))
  if (written.toOne >= mostToOne)
    throw new DomainError('RATE_LIMITED', `One address gets at most ${mostToOne} mails a day in the name of the platform: send from a domain of your own.`, {
      retryAfter,
    })
  if (written.recipients + addresses.length > most)
    throw new DomainError(
      'RATE_LIMITED',
      `An organization writes to at most ${most} recipients a day in the name of the platform: send from a domain of its own.`,
      {
        retryAfter,
      },
    )
}
