import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { DomainError } from '../../../platform/errors.ts'
import { withPlainLabels } from '../operation/overrides/labels.ts'
import type { PlanText } from './plan-text.ts'

/**
 * Percentage for labels that the planner itself would decide on. It knows none of them: all have plain names, so that
 * the request's decision is the only one.
 */
const noPercentage = 100

const noLabels: ReadonlySet<string> = new Set()

/**
 * Creates the first planner (@graphql-hive/router-query-planner). While it computes, it occupies the threads that also
 * read files, resolve names and check passwords.
 * @throws Error for a supergraph that it cannot read
 */
export function createHivePlanner({ sdl }: { readonly sdl: string }): PlanText {
  const plain = withPlainLabels(sdl)
  const planner = new QueryPlanner(plain.sdl)
  return async (text, active) => {
    const labels = active.length === 0 ? noLabels : new Set(active.flatMap(label => plain.names.get(label) ?? []))
    try {
      return (await planner.planAsync(text, null, labels as Set<string>, noPercentage)).node ?? null
    } catch (cause) {
      // The planner's parser allows fifty levels of nesting of any kind.
      if (String((cause as Error | null)?.message).includes('Recursion limit exceeded'))
        throw new DomainError('BAD_USER_INPUT', 'The operation nests fields, fragments and values too deep to be planned; send deep values as variables.')
      throw cause
    }
  }
}
