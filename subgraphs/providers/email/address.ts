import { domainToASCII } from 'node:url'
import { DomainError } from '../../../platform/errors.ts'
import { isMailAddress, toStored } from '../../../platform/smtp/mail-address.ts'

/**
 * Matches the local part of a sender address: ASCII (RFC 5321 §4.1.2, without quoted forms), so that every server
 * accepts it.
 */
const beforeAt = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/**
 * Returns a domain in DNS form: lower case, A-labels, without a trailing dot; null for an invalid one, or an IP
 * address.
 */
export function readDomainName(given: string): string | null {
  const written = given.trim().replace(/\.$/, '')
  // `domainToASCII` leaves out line breaks, paths and ports: another name would remain than was written.
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(written)) return null
  const name = domainToASCII(written).toLowerCase()
  const labels = name.split('.')
  return name.length <= 253 && labels.length > 1 && labels.every(each => label.test(each)) && !/^\d+$/.test(labels.at(-1)!) ? name : null
}

/** Returns a valid local part, else null. */
export const readLocalPart = (given: string): string | null => (given.length <= 64 && beforeAt.test(given) ? given : null)

/** Returns an address with its domain in DNS form; null for an invalid one. */
export function readMailAddress(given: string): string | null {
  const at = given.lastIndexOf('@')
  const [local, domain] = [given.slice(0, at).trim(), readDomainName(given.slice(at + 1))]
  return at > 0 && domain && isMailAddress(`${local}@${domain}`) ? `${local}@${domain}` : null
}

/** Returns the form in which addresses are compared, regardless of capitals and Unicode composition. */
export const sameAddress = toStored

/** @throws BAD_USER_INPUT with the `field`; the message does not repeat the value */
export function requireMailAddress(given: string, field: string): string {
  const address = readMailAddress(given)
  if (address) return address
  throw new DomainError('BAD_USER_INPUT', `${field} must be a mail address such as ada@example.com, without a name.`, { field })
}
