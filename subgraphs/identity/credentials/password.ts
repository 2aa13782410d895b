import { createRequire } from 'node:module'
import { DomainError } from '../../../platform/errors.ts'
import { toStored } from '../../../platform/smtp/mail-address.ts'

/** Minimum characters of a new password (NIST SP 800-63B), and its maximum, which scrypt reads whole. */
const leastPassword = 12
export const longestPassword = 256

/** Counts user-perceived characters. */
export const lengthOf = (password: string): number => [...password].length

/**
 * Whether a password is distinct from every other after hashing: the hash pads it with NULs and reads UTF-8, so
 * trailing NULs and unpaired surrogates are ambiguous. Control characters cannot be typed.
 */
const isDistinct = (password: string): boolean => password.isWellFormed() && !/\p{Cc}/u.test(password)

const distinctSentence = 'without control characters such as NUL or a line break'

let common: ReadonlySet<string> | undefined

/**
 * Words that attackers of this platform would try, with digits, signs and each other: its names, and words in guides.
 */
const productWords = ['supergraph', 'password', 'platform', 'launcher', 'publishing', 'payments', 'providers', 'identity', 'agents', 'admin', 'owner', 'demo']
/** Number of other letters that make a password with such words acceptable. */
const leastOwnLetters = 6

/** Sequences of neighbouring keys on keyboards, rows with their signs and columns, digits and the alphabet; in both directions. */
const sequences = [
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '12345678901234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  '1234567890-=',
].flatMap(row => [row, [...row].reverse().join('')])
/**
 * Minimum length of a run of neighbouring keys, and the number of characters outside of runs that make a password
 * acceptable.
 */
const run = { least: 3, mostOutside: 3 }

/** Whether a password is put together of words of the product. */
function isOfProduct(plain: string): boolean {
  const rest = productWords.reduce((left, word) => left.replaceAll(word, ' '), plain)
  return rest !== plain && rest.replaceAll(/[^\p{L}]/gu, '').length < leastOwnLetters
}

/** Whether a password consists of runs of neighbouring keys. */
function isOfRows(plain: string): boolean {
  let outside = 0
  for (let at = 0; at < plain.length; ) {
    const length = Math.max(...sequences.map(row => runLength(plain, at, row)))
    outside += length >= run.least ? 0 : 1
    at += length >= run.least ? length : 1
  }
  return outside <= run.mostOutside
}

/** Returns how many characters from a position follow a sequence. */
function runLength(plain: string, at: number, row: string): number {
  let length = 0
  while (at + length < plain.length && row.includes(plain.slice(at, at + length + 1))) length += 1
  return length
}

/**
 * Whether a password is common: among the fifty thousand most frequent ones in known leaks, one repeated character,
 * words of the product, or neighbouring keys (NIST SP 800-63B §3.1.1.2). Capitals make no difference.
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
 * @param field the caller's name of it, for the message
 * @param email the address of its account, if known
 * @throws BAD_USER_INPUT with the field, and the requirements
 */
export function readNewPassword(value: unknown, field: string, email?: string): string {
  const refuse = (sentence: string) => new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })
  if (typeof value !== 'string' || lengthOf(value) < leastPassword || lengthOf(value) > longestPassword)
    throw refuse(`takes ${leastPassword} to ${longestPassword} characters.`)
  if (!isDistinct(value)) throw refuse(`takes characters ${distinctSentence}: type it again.`)
  if (email !== undefined && toStored(value.normalize('NFKC').trim()) === toStored(email)) throw refuse('is the mail address itself: choose another.')
  if (isCommon(value)) throw refuse('is one of those that guessers try first: choose another.')
  return value
}

/**
 * Reads an account's present password.
 * @throws BAD_USER_INPUT for one that no account can have
 */
export function readPassword(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '' || lengthOf(value) > longestPassword)
    throw new DomainError('BAD_USER_INPUT', `${field} takes 1 to ${longestPassword} characters.`, { field })
  if (!isDistinct(value)) throw new DomainError('BAD_USER_INPUT', `${field} takes characters ${distinctSentence}: type it again.`, { field })
  return value
}
