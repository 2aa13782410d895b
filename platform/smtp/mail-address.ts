import { domainToASCII } from 'node:url'
import validator from 'validator'

/** The most characters of a mail address, and octets of what stands before the @ (RFC 5321 §4.5.3.1, RFC 6531 §3.2). */
const most = { whole: 254, local: 64 }

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** Whether characters could be mistaken for another address: invisible ones, compatibility forms, mixed scripts in one name. */
function isAmbiguous(local: string): boolean {
  const letters = [...local].filter(letter => letter > '\x7f')
  return (
    letters.some(
      letter => /[\p{C}\p{Z}]/u.test(letter) || letter.normalize('NFKC') !== letter.normalize('NFC') || /[\0-\x7f]/.test(letter.normalize('NFKC')),
    ) || scripts.filter(script => script.test(local)).length > 1
  )
}

/** An address in its two parts, the domain as DNS has it; null where there is no such domain. */
function partsOf(address: string): { readonly local: string; readonly domain: string } | null {
  const at = address.lastIndexOf('@')
  const written = address.slice(at + 1)
  // The domain parser drops some characters and decodes others, so the result may be another domain.
  const domain = /^[\p{L}\p{M}\p{N}.-]+$/u.test(written) ? domainToASCII(written) : ''
  return at > 0 && domain !== '' ? { local: address.slice(0, at), domain } : null
}

/**
 * Whether a value is a mail address: letters of any script before the @ (RFC 6531), or what RFC 5321 takes unquoted there; a domain with a
 * dot, of letters that DNS can have. Letters that look like others, or that normalising would make ASCII, are refused: such an
 * address could be taken for somebody else's.
 */
export function isMailAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > most.whole || !value.isWellFormed()) return false
  const parts = partsOf(value)
  if (!parts || parts.local.includes('"') || Buffer.byteLength(parts.local) > most.local || isAmbiguous(parts.local)) return false
  return validator.isEmail(`${parts.local}@${parts.domain}`)
}

/**
 * The one form in which an address is stored, compared and written to. Neither capitals nor the way in which an accented letter is put together
 * make another address of it. Hand it what `isMailAddress` takes: other letters may become ASCII here, and so somebody else's address.
 */
export function toStored(address: string): string {
  const parts = partsOf(address)
  const form = (text: string) => text.normalize('NFC').toLowerCase().normalize('NFC')
  return parts ? `${form(parts.local)}@${parts.domain}` : form(address)
}

/** What to say of an address that breaks the rule. */
export const mailAddressSentence = 'such as ada@example.com: letters, digits and signs before the @, a domain with a dot after it, 254 characters at most'
