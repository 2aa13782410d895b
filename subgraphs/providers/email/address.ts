import { domainToASCII } from 'node:url'
import { Refusal } from '../../../platform/errors.ts'
import { isMailAddress, toStored } from '../../../platform/smtp/mail-address.ts'

/** What stands before the @ of an address that we send from: ASCII (RFC 5321 §4.1.2, without quoted forms), so that every server takes it. */
const beforeAt = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** A domain as DNS has it: lower case, A-labels, without a point at its end; null for what is none, or is an address of IP. */
export function readDomainName(given: string): string | null {
  const written = given.trim().replace(/\.$/, '')
  // `domainToASCII` leaves out line breaks, paths and ports: another name would remain than was written.
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(written)) return null
  const name = domainToASCII(written).toLowerCase()
  const labels = name.split('.')
  return name.length <= 253 && labels.length > 1 && labels.every(each => label.test(each)) && !/^\d+$/.test(labels.at(-1)!) ? name : null
}

/** What stands before the @, or null for what cannot stand there. */
export const readLocalPart = (given: string): string | null => (given.length <= 64 && beforeAt.test(given) ? given : null)

/** An address with its domain as DNS has it; null for what is none. */
export function readMailAddress(given: string): string | null {
  const at = given.lastIndexOf('@')
  const [local, domain] = [given.slice(0, at).trim(), readDomainName(given.slice(at + 1))]
  return at > 0 && domain && isMailAddress(`${local}@${domain}`) ? `${local}@${domain}` : null
}

/** By what addresses are compared: nobody tells them apart by capitals, or by how an accented letter is put together. */
export const sameAddress = toStored

/** @throws BAD_USER_INPUT with the `field`; the sentence does not repeat what was given */
export function requireMailAddress(given: string, field: string): string {
  const address = readMailAddress(given)
  if (address) return address
  throw new Refusal('BAD_USER_INPUT', `${field} must be a mail address such as ada@example.com, without a name.`, { field })
}
