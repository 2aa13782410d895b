import { type ConstDirectiveNode, type FieldDefinitionNode, Kind, parse, type SelectionSetNode, type TypeNode } from 'graphql'
import { at, type Mistake } from './source/mistake.ts'
import type { SubgraphSources } from './source/sources.ts'

/**
 * Finds `@provides` with a recursive path: the query planner treats such a path as provided at any depth and leaves
 * lists below it unread, so clients would get null without an error.
 */
export function recursiveProvides(source: SubgraphSources): Mistake[] {
  const fields = new Map<string, Map<string, FieldDefinitionNode>>()
  for (const { document } of source.nouns)
    for (const node of document.definitions)
      if (
        'fields' in node &&
        (node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.INTERFACE_TYPE_DEFINITION)
      ) {
        const known = fields.get(node.name.value) ?? new Map<string, FieldDefinitionNode>()
        for (const field of node.fields ?? []) known.set(field.name.value, field as FieldDefinitionNode)
        fields.set(node.name.value, known)
      }

  const comesBack = (selections: SelectionSetNode, type: string, passed: ReadonlySet<string>): boolean =>
    selections.selections.some(selection => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return false
      if (selection.kind === Kind.INLINE_FRAGMENT) return comesBack(selection.selectionSet, selection.typeCondition?.name.value ?? type, passed)
      const field = fields.get(type)?.get(selection.name.value)
      if (!field || !selection.selectionSet) return false
      const next = namedType(field.type)
      return passed.has(next) || comesBack(selection.selectionSet, next, new Set([...passed, next]))
    })

  return [...fields].flatMap(([owner, ofType]) =>
    [...ofType.values()].flatMap(field => {
      const provided = field.directives?.find(({ name }) => name.value === 'provides')
      const text = provided && fieldSetOf(provided)
      const type = namedType(field.type)
      if (!text || !provided.loc || !comesBack(text, type, new Set([owner, type]))) return []
      return [
        at(
          provided.loc,
          'PROVIDES_RECURSIVE',
          `${owner}.${field.name.value} provides a path that comes back to a type it has passed: provide the fields of one level only`,
        ),
      ]
    }),
  )
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type)
}

/** Parses the `fields` of a directive; composition itself reports an invalid one. */
function fieldSetOf({ arguments: given }: ConstDirectiveNode): SelectionSetNode | null {
  const value = given?.find(({ name }) => name.value === 'fields')?.value
  if (value?.kind !== Kind.STRING) return null
  try {
    const [operation] = parse(`{ ${value.value} }`).definitions
    return operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet : null
  } catch {
    return null
  }
}
