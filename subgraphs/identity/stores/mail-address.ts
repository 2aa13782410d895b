import { z } from 'zod'

/** The most characters of a mail address (RFC 5321 §4.5.3.1: 64 before the @, and 254 for the whole of it). */
const mostCharacters = { name: 64, whole: 254 }

// The credential library asks the same schema at sign-in: an account whose address another rule let in could never be used.
const form = z.email()

/**
 * The one rule for the address of an account: asked at set-up, at sign-in, wherever people are named by address, and of demo people.
 * Letters, digits and `_'+-.` before the @, a domain with a dot after it; without blanks and without letters beyond ASCII.
 */
export const isMailAddress = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= mostCharacters.whole && value.indexOf('@') <= mostCharacters.name && form.safeParse(value).success

/**
 * How an address is stored and looked up: accounts do not differ by capitals. Of ASCII alone, for there are letters of other scripts (the Kelvin
 * sign) that become ASCII in lower case: an address with one would be somebody else's.
 */
export const toStored = (address: string): string => address.replaceAll(/[A-Z]/g, letter => letter.toLowerCase())

/** What to say of an address that breaks the rule. */
export const mailAddressSentence = "such as ada@example.com: ASCII letters, digits and _'+-. before the @, a domain with a dot after it, 254 characters at most"
