import { Refusal } from '../../../../platform/errors.ts'
import type { Account } from '../../stores/account/account.ts'
import type { Recovery } from '../../stores/account/recovery-email.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../stores/mail-address.ts'

/** For how long after a sign-in by password what guards the account may be changed without the password, in ms. */
export const freshMs = 15 * 60_000

/** An address as it is stored. @throws BAD_USER_INPUT for what no account can have */
export function readEmail(value: unknown, field: string): string {
  const email = typeof value === 'string' ? value.trim() : value
  if (isMailAddress(email)) return toStored(email)
  throw new Refusal('BAD_USER_INPUT', `${field} is missing or no mail address: it is ${mailAddressSentence}.`, { field })
}

/** What looks like the address of a page: mail programs make a link of it. */
const looksLikeLink = /:\/\/|\bwww\.|[\p{L}\d-]\.\p{L}{2,}(?:$|[^\p{L}.])/u

/**
 * The name by which a mail greets. Whoever signs up chooses any name, for anybody's address: one that would be a link in the mail
 * gives way to what stands before the @.
 */
export const greeted = (name: string, email: string): string => (looksLikeLink.test(name) ? email.slice(0, email.indexOf('@')) : name)

/** Whether a code that was mailed there may still set the password of this account: meanwhile its addresses may have changed. */
export const isAddressOf = ({ email, recoveryEmail }: Account, address: unknown): boolean => address === email || address === recoveryEmail

/** How a recovery address stands: one that is to be verified is what its person sees, though the former one stays in use. */
export const statusOf = (recovery: Recovery | null): 'none' | 'pending' | 'verified' =>
  recovery === null ? 'none' : recovery.pendingEmail === null ? 'verified' : 'pending'

/** What the person sees of it. */
export const shownOf = (recovery: Recovery | null) => ({
  email: recovery?.pendingEmail ?? recovery?.email ?? null,
  status: statusOf(recovery),
  verifiedAt: recovery?.pendingEmail ? null : (recovery?.verifiedAt ?? null),
})
