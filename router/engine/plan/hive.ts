import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { DomainError } from '../../../platform/errors.ts'
import type { PlanText } from './plan-text.ts'

/**
 * Percentage for `@override(label: "percent(…)")`: with this value no such override ever applies, so the field stays
 * with the overridden subgraph.
 */
const noPercentage = 100

/**
 * Creates the first planner (@graphql-hive/router-query-planner). While it computes, it occupies the threads that also
 * read files, resolve names and check passwords.
 * @throws Error for a supergraph that it cannot read
 */
export function createHivePlanner({ sdl }: { readonly sdl: string }): PlanText {
  const planner = new QueryPlanner(sdl)
  const noLabels = new Set<string>()
  return async text => {
    try {
      return (await planner.planAsync(text, null, noLabels, noPercentage)).node ?? null
    } catch (cause) {
      // The planner's parser allows fifty levels of nesting of any kind.
      if (String((cause as Error | null)?.message).includes('Recursion limit exceeded'))
        throw new DomainError('BAD_USER_INPUT', 'The operation nests fields, fragments and values too deep to be planned; send deep values as variables.')
      throw cause
    }
  }
}
