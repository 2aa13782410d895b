import { Refusal } from '../../../../platform/errors.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import type { Account } from '../../stores/account/account.ts'
import type { Recovery } from '../../stores/account/recovery-email.ts'

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

/** What a person sees of the recovery address. */
export interface ShownRecovery {
  /** The address that counts; before the first one is verified, the one that is to be. */
  readonly email: string | null
  /** Of `email`. */
  readonly status: 'none' | 'pending' | 'verified'
  readonly verifiedAt: Date | null
  /** The address that waits to be verified. */
  readonly pendingEmail: string | null
}

/** Shows a verified address for as long as it is in use, whatever is to replace it. */
export const shownOf = (recovery: Recovery | null): ShownRecovery => ({
  email: recovery?.email ?? recovery?.pendingEmail ?? null,
  status: recovery === null ? 'none' : recovery.email === null ? 'pending' : 'verified',
  verifiedAt: recovery?.verifiedAt ?? null,
  pendingEmail: recovery?.pendingEmail ?? null,
})
