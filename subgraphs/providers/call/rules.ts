import { Refusal } from '../../../platform/errors.ts'
import { isNamable } from '../../../platform/ids.ts'

/** Characters of the longest name of an app or a model. */
const longestWord = 500

/** A name to look for; null where none is given. @throws BAD_USER_INPUT for what nothing can be called */
export function readWord(given: string | null | undefined, field: string): string | null {
  if (given === null || given === undefined) return null
  if (given !== '' && given.length <= longestWord && isNamable(given)) return given
  throw new Refusal('BAD_USER_INPUT', `${field} is a name of 1 to ${longestWord} characters, on one line.`, { field })
}
