import { type DocumentNode, type GraphQLSchema, Kind, type SelectionSetNode, valueFromASTUntyped } from 'graphql'
import type { Operation } from './operation.ts'

/** How long fields of root types may take, in ms, by `Type.field`: those alone that take longer than an operation usually has. */
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

/** A supergraph, as far as it is looked at here. */
interface Patient {
  readonly schema: GraphQLSchema
  readonly patience: PatienceTable
}

/** How long the longest root field of an operation, or of a fetch, may take in ms; 0 where each takes what is usual. */
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
