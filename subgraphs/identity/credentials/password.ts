import { createRequire } from 'node:module'
import { Refusal } from '../../../platform/errors.ts'
import { toStored } from '../stores/mail-address.ts'

/** Characters of a new password at least (NIST SP 800-63B); scrypt reads the whole of it, and nobody needs a longer one. */
const leastPassword = 12
export const longestPassword = 256

/** Characters, as people count them. */
export const lengthOf = (password: string): number => [...password].length

/**
 * Whether a password can be told from every other: the hash pads it with NULs and reads UTF-8, so with them at its end, or with
 * halves of characters, it would be the same as another. No keyboard types a control character into a field.
 */
const isDistinct = (password: string): boolean => password.isWellFormed() && !/\p{Cc}/u.test(password)

const distinctSentence = 'without control characters such as NUL or a line break'

/** Words of this product, which guessers of its accounts try first. */
const ofProduct = /^(?:supergraph|platform|demo|password)+$/
const isOfProduct = (plain: string): boolean => ofProduct.test(plain.replaceAll(/[^a-z]/g, ''))

/** Keys as they lie beside each other, there and back. */
const rows = ['qwertyuiopasdfghjklzxcvbnm', '1234567890'].flatMap(row => [row, [...row].reverse().join('')])
/** How many keys in a row make a walk. */
const leastWalk = 3

/** Whether a password is nothing but walks along rows of keys, such as `asdfghjkl1234`. */
function isWalk(plain: string): boolean {
  for (let at = 0; at < plain.length; ) {
    let length = 0
    while (at + length < plain.length && rows.some(row => row.includes(plain.slice(at, at + length + 1)))) length += 1
    if (length < leastWalk) return false
    at += length
  }
  return true
}

let common: ReadonlySet<string> | undefined

/**
 * Whether a password is among those that are tried first: of the fifty thousand most frequent ones in known leaks those that are long enough
 * here, or one character again and again (NIST SP 800-63B §3.1.1.2). Capitals do not make another of it.
 */
function isCommon(password: string): boolean {
  const plain = password.normalize('NFKC').toLowerCase()
  if (new Set(plain).size === 1 || isOfProduct(plain) || isWalk(plain)) return true
  // At first use: whoever changes no password need not wait for the list.
  common ??= new Set(frequent().filter(each => lengthOf(each) >= leastPassword))
  return common.has(plain)
}

function frequent(): readonly string[] {
  const { dictionary } = createRequire(import.meta.url)('@zxcvbn-ts/language-common') as { dictionary: { 'passwords-common': readonly string[] } }
  return dictionary['passwords-common']
}

/**
 * Reads a new password.
 * @param field what the caller calls it, for the sentence
 * @param email the address of its account, where that is known already
 * @throws BAD_USER_INPUT with the field, and what it takes
 */
export function readNewPassword(value: unknown, field: string, email?: string): string {
  const refuse = (sentence: string) => new Refusal('BAD_USER_INPUT', `${field} ${sentence}`, { field })
  if (typeof value !== 'string' || lengthOf(value) < leastPassword || lengthOf(value) > longestPassword)
    throw refuse(`takes ${leastPassword} to ${longestPassword} characters.`)
  if (!isDistinct(value)) throw refuse(`takes characters ${distinctSentence}: type it again.`)
  if (email !== undefined && toStored(value.normalize('NFKC').trim()) === toStored(email)) throw refuse('is the mail address itself: choose another.')
  if (isCommon(value)) throw refuse('is one of those that guessers try first: choose another.')
  return value
}

/**
 * Reads the password that an account has, or is said to have.
 * @throws BAD_USER_INPUT for what no account can have
 */
export function readPassword(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '' || lengthOf(value) > longestPassword)
    throw new Refusal('BAD_USER_INPUT', `${field} takes 1 to ${longestPassword} characters.`, { field })
  if (!isDistinct(value)) throw new Refusal('BAD_USER_INPUT', `${field} takes characters ${distinctSentence}: type it again.`, { field })
  return value
}
