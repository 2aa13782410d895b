import { DomainError } from '../../../../platform/errors.ts'
import { isMailAddress, mailAddressSentence, toStored } from '../../../../platform/smtp/mail-address.ts'
import type { Account } from '../../stores/account/account.ts'

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
