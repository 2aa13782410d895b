import { type Problem, problemOf } from '../../../shell/data/problems.ts'
import { sayIfKnown } from '../../../shell/words.ts'

/** Says why an operation of billing was refused, in the page's language where the reason is known. */
export function refusalOf(error: Parameters<typeof problemOf>[0]): Problem | null {
  const problem = problemOf(error)
  return problem?.reason ? { ...problem, sentence: sayIfKnown(`billing.${problem.reason}`, problem.sentence) } : problem
}
