import type { BatchFetchNode, FetchNode, FetchNodePathSegment } from '@graphql-hive/router-query-planner'
import type { FieldNode } from 'graphql'

/** A value that a fetch of entities takes from an object around each of them (`@context` with `@fromContext`). */
export interface ContextValue {
  /** Variable of the fetch that takes the value. */
  readonly variable: string
  /** Number of fields from the entity up to the object. */
  readonly up: number
  /** Where the value stands in the object; several paths of one variable are for objects of different types. */
  readonly path: readonly FetchNodePathSegment[]
}

/** A planned fetch with the values that it takes from objects around its entities. */
export type ContextFetchNode = FetchNode & { readonly contexts: readonly ContextValue[] }

/** Returns the values that a planned fetch takes from objects around its entities. */
export const contextsOf = (node: FetchNode | BatchFetchNode): readonly ContextValue[] => ('contexts' in node ? (node as ContextFetchNode).contexts : [])

/** Matches the variables that the second planner declares for such values; those of clients have a prefix. */
const contextual = /^contextualArgument_/

/** Whether a variable of a planned fetch takes its value from an object around an entity. */
export const isContextual = (variable: string): boolean => contextual.test(variable)

/** Whether each argument of a planned field is such a value, so that clients gave none. */
export const isGivenByContext = ({ arguments: given = [] }: FieldNode): boolean =>
  given.length > 0 && given.every(({ value }) => value.kind === 'Variable' && isContextual(value.name.value))
