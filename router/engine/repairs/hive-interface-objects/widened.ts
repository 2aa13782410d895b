import { type FieldNode, Kind, type SelectionNode } from 'graphql'
import type { InterfaceObject } from '../../supergraph.ts'

const plainField = (name: string): FieldNode => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } })

export const typenameField = plainField('__typename')

/**
 * Selects fields on an interface as a whole, not on one implementation, where subgraphs know the interface as an object
 * type: otherwise the planner forgets the key, or the fetch. Fields fetched in excess are dropped when the answer is
 * shaped.
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
