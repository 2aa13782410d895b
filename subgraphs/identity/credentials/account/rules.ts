import { DomainError } from '../../../../platform/errors.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import type { Account } from '../../stores/account/account.ts'
import type { Recovery } from '../../stores/account/recovery-email.ts'

/** Time in ms after a sign-in by password in which protected changes need no password. */
export const freshMs = 15 * 60_000

/** Returns an address in stored form. @throws BAD_USER_INPUT for an address that no account can have */
export function readEmail(value: unknown, field: string): string {
  const email = typeof value === 'string' ? value.trim() : value
  if (isMailAddress(email)) return toStored(email)
  throw new DomainError('BAD_USER_INPUT', `${field} is missing or no mail address: it is ${mailAddressSentence}.`, { field })
}

/** Matches what mail programs turn into a link. */
const looksLikeLink = /:\/\/|\bwww\.|[\p{L}\d-]\.\p{L}{2,}(?:$|[^\p{L}.])/u

/**
 * Returns the name for a mail's greeting. Anyone may sign up with any name and address: a name that would become a link
 * in the mail is replaced by the local part of the address.
 */
export const greeted = (name: string, email: string): string => (looksLikeLink.test(name) ? email.slice(0, email.indexOf('@')) : name)

/**
 * Whether a code that was mailed to an address may still set the password of this account, whose addresses may have
 * changed meanwhile.
 */
export const isAddressOf = ({ email, recoveryEmail }: Account, address: unknown): boolean => address === email || address === recoveryEmail

/** A person's view of the recovery address. */
export interface ShownRecovery {
  /** The verified address; before the first one is verified, the pending one. */
  readonly email: string | null
  /** Status of `email`. */
  readonly status: 'none' | 'pending' | 'verified'
  readonly verifiedAt: Date | null
  /** The address that waits to be verified. */
  readonly pendingEmail: string | null
}

/** Shows a verified address for as long as it is in use, whatever replaces it later. */
export const shownOf = (recovery: Recovery | null): ShownRecovery => ({
  email: recovery?.email ?? recovery?.pendingEmail ?? null,
  status: recovery === null ? 'none' : recovery.email === null ? 'pending' : 'verified',
  verifiedAt: recovery?.verifiedAt ?? null,
  pendingEmail: recovery?.pendingEmail ?? null,
})
