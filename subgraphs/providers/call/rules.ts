import { DomainError } from '../../../platform/errors.ts'
import { isNamable } from '../../../platform/ids.ts'

/** Maximum characters of an app's or a model's name. */
const longestWord = 500

/** Reads a name to search for; null for none. @throws BAD_USER_INPUT for an impossible one */
export function readWord(given: string | null | undefined, field: string): string | null {
  if (given === null || given === undefined) return null
  if (given !== '' && given.length <= longestWord && isNamable(given)) return given
  throw new DomainError('BAD_USER_INPUT', `${field} is a name of 1 to ${longestWord} characters, on one line.`, { field })
}
