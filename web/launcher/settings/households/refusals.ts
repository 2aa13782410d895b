import { type Problem, problemOf } from '../../../shell/data/problems.ts'
import { say } from '../../../shell/words.ts'

/**
 * Says why an operation of households was refused, in the page's language where the reason is known.
 * @param words the key of what is said for a reason
 */
export function refusalOf(error: Parameters<typeof problemOf>[0], words: Readonly<Record<string, string>> = {}): Problem | null {
  const problem = problemOf(error)
  const key = problem?.reason ? { LAST_OWNER: 'households.last-owner', DECIDED: 'households.decided', ...words }[problem.reason] : undefined
  return problem && key ? { ...problem, sentence: say(key) } : problem
}
