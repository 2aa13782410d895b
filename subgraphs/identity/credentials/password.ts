import { createRequire } from 'node:module'
import { Refusal } from '../../../platform/errors.ts'
import { toStored } from '../../../platform/smtp/mail-address.ts'

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

let common: ReadonlySet<string> | undefined

/** Words that guessers of this platform try, with digits, signs and each other: its own names, and what stands in guides. */
const productWords = ['supergraph', 'password', 'platform', 'launcher', 'publishing', 'payments', 'providers', 'identity', 'agents', 'admin', 'owner', 'demo']
/** How many letters beside such words make a password another. */
const leastOwnLetters = 6

/** Keys as they lie side by side on keyboards, row after row and column after column, the digits and the alphabet; in both directions. */
const sequences = [
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '12345678901234567890',
  'abcdefghijklmnopqrstuvwxyz',
].flatMap(row => [row, [...row].reverse().join('')])
/** How many neighbouring keys count as a run, and how many characters outside of runs make a password another. */
const run = { least: 3, mostOutside: 3 }

/** Whether a password is put together of words of the product. */
function isOfProduct(plain: string): boolean {
  const rest = productWords.reduce((left, word) => left.replaceAll(word, ' '), plain)
  return rest !== plain && rest.replaceAll(/[^\p{L}]/gu, '').length < leastOwnLetters
}

/** Whether a password is put together of keys that lie side by side. */
function isOfRows(plain: string): boolean {
  let outside = 0
  for (let at = 0; at < plain.length; ) {
    const length = Math.max(...sequences.map(row => runLength(plain, at, row)))
    outside += length >= run.least ? 0 : 1
    at += length >= run.least ? length : 1
  }
  return outside <= run.mostOutside
}

/** How many characters from here on stand in this order in a row of keys. */
function runLength(plain: string, at: number, row: string): number {
  let length = 0
  while (at + length < plain.length && row.includes(plain.slice(at, at + length + 1))) length += 1
  return length
}

/**
 * Whether a password is among those that are tried first: of the fifty thousand most frequent ones in known leaks those that are long enough
 * here, one character again and again, words of the product, or keys side by side (NIST SP 800-63B §3.1.1.2). Capitals do not make
 * another of it.
 */
function isCommon(password: string): boolean {
  const plain = password.normalize('NFKC').toLowerCase()
  if (new Set(plain).size === 1 || isOfProduct(plain) || isOfRows(plain)) return true
  // Loaded at first use, so that only password changes wait for the list.
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
