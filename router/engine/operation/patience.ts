import { type DocumentNode, type GraphQLSchema, Kind, type SelectionSetNode, valueFromASTUntyped } from 'graphql'
import type { Operation } from './operation.ts'

/** Time limits of root fields in ms, by `Type.field`; only fields with more than the usual limit are listed. */
export type PatienceTable = ReadonlyMap<string, number>

/** Reads `@patience`. */
export function readPatience({ definitions }: DocumentNode): PatienceTable {
  const table = new Map<string, number>()
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
    for (const field of definition.fields ?? []) {
      const given = field.directives?.find(({ name }) => name.value === 'patience')?.arguments?.find(({ name }) => name.value === 'ms')
      const ms = given && Number(valueFromASTUntyped(given.value))
      if (ms && ms > 0) table.set(`${definition.name.value}.${field.name.value}`, ms)
    }
  }
  return table
}

/** The parts of a supergraph that time limits depend on. */
interface Patient {
  readonly schema: GraphQLSchema
  readonly patience: PatienceTable
}

/**
 * Returns the longest time limit in ms among the root fields of an operation or fetch; 0 where all have the usual
 * limit.
 */
export function patienceOf({ definition, fragments }: Operation, { schema, patience }: Patient): number {
  const root = schema.getRootType(definition.operation)?.name
  if (!root || patience.size === 0) return 0
  const longestIn = ({ selections }: SelectionSetNode): number =>
    Math.max(
      0,
      ...selections.map(selection => {
        if (selection.kind === Kind.FIELD) return patience.get(`${root}.${selection.name.value}`) ?? 0
        const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
        return inner ? longestIn(inner.selectionSet) : 0
      }),
    )
  return longestIn(definition.selectionSet)
}
