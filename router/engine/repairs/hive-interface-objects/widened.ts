import { type FieldNode, Kind, type SelectionNode } from 'graphql'
import type { InterfaceObject } from '../../supergraph.ts'

const plainField = (name: string): FieldNode => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } })

export const typenameField = plainField('__typename')

/**
 * Asks an interface that subgraphs know as an object type for its fields as a whole, not for those of one implementation: then
 * the planner forgets the key, or to ask at all. What is asked too much is left out when the answer is shaped.
 */
export function widened(selections: readonly SelectionNode[], { keys, fields, owned }: InterfaceObject): SelectionNode[] {
  const own: SelectionNode[] = []
  const narrowed: SelectionNode[] = []
  for (const selection of selections) {
    if (selection.kind !== Kind.INLINE_FRAGMENT) {
      own.push(selection)
      continue
    }
    const condition = selection.typeCondition?.name.value
    const kept = selection.selectionSet.selections.filter(
      inner => inner.kind !== Kind.FIELD || !fields.has(inner.name.value) || owned.has(`${condition}.${inner.name.value}`),
    )
    own.push(...selection.selectionSet.selections.filter(inner => !kept.includes(inner)))
    narrowed.push({ ...selection, selectionSet: { kind: Kind.SELECTION_SET, selections: kept.length === 0 ? [typenameField] : kept } })
  }
  if (narrowed.length === 0) return own
  const isAsked = (key: string) => own.some(each => each.kind === Kind.FIELD && (each.alias ?? each.name).value === key)
  return [...own, ...keys.filter(key => !isAsked(key)).map(plainField), ...narrowed]
}
