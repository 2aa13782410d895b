import { domainToASCII } from 'node:url'
import validator from 'validator'

/** Maximum characters of a mail address, and octets of its local part (RFC 5321 §4.5.3.1, RFC 6531 §3.2). */
const most = { whole: 254, local: 64 }

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** Whether a local part could be mistaken for another one: invisible characters, compatibility forms, mixed scripts. */
function isAmbiguous(local: string): boolean {
  const letters = [...local].filter(letter => letter > '\x7f')
  return (
    letters.some(
      letter => /[\p{C}\p{Z}]/u.test(letter) || letter.normalize('NFKC') !== letter.normalize('NFC') || /[\0-\x7f]/.test(letter.normalize('NFKC')),
    ) || scripts.filter(script => script.test(local)).length > 1
  )
}

/** Splits an address into its two parts, with the domain in DNS form; null for an impossible domain. */
function partsOf(address: string): { readonly local: string; readonly domain: string } | null {
  const at = address.lastIndexOf('@')
  const written = address.slice(at + 1)
  // The domain parser drops some characters and decodes others, so the result may be another domain.
  const domain = /^[\p{L}\p{M}\p{N}.-]+$/u.test(written) ? domainToASCII(written) : ''
  return at > 0 && domain !== '' ? { local: address.slice(0, at), domain } : null
}

/**
 * Whether a value is a mail address: a local part of letters of any script (RFC 6531), or of what RFC 5321 allows
 * unquoted; and a domain with a dot that DNS can have. Confusable letters, and letters that normalization would turn
 * into ASCII, are rejected: the address could be mistaken for somebody else's.
 */
export function isMailAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > most.whole || !value.isWellFormed()) return false
  const parts = partsOf(value)
  if (!parts || parts.local.includes('"') || Buffer.byteLength(parts.local) > most.local || isAmbiguous(parts.local)) return false
  return validator.isEmail(`${parts.local}@${parts.domain}`)
}

/**
 * Returns the form in which an address is stored, compared and written to, regardless of capitals and Unicode
 * composition. Only pass what `isMailAddress` accepts: other letters may become ASCII here, and so somebody else's
 * address.
 */
export function toStored(address: string): string {
  const parts = partsOf(address)
  const form = (text: string) => text.normalize('NFC').toLowerCase().normalize('NFC')
  return parts ? `${form(parts.local)}@${parts.domain}` : form(address)
}

/** Message about an invalid address. */
export const mailAddressSentence = 'such as ada@example.com: letters, digits and signs before the @, a domain with a dot after it, 254 characters at most'
