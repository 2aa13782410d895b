import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
  isUnionType,
  Kind,
  type SelectionSetNode,
} from 'graphql'
import type { Sharing, SharingTable } from '../../access/sharing.ts'
import type { Operation } from './operation.ts'

/**
 * Returns who may share a whole subscription: the narrowest promise of any of its fields. Null when it is for one
 * viewer alone.
 */
export function sharingOf({ definition, fragments }: Operation, schema: GraphQLSchema, table: SharingTable): Sharing | null {
  const root = schema.getRootType(definition.operation)
  if (!root || table.size === 0) return null
  /** Selections already visited: a selection's position determines its type. */
  const seen = new Set<SelectionSetNode>()
  let shared: Sharing | null = null

  const takes = (type: GraphQLCompositeType, { name: { value: field } }: FieldNode): boolean => {
    if (field === '__typename') return true
    for (const { name } of isObjectType(type) ? [type] : schema.getPossibleTypes(type)) {
      const found = table.get(`${name}.${field}`)
      if (!found) return false
      shared = shared ? least(shared, found) : found
    }
    return true
  }
  const visit = (set: SelectionSetNode, type: GraphQLCompositeType): boolean => {
    if (seen.has(set)) return true
    seen.add(set)
    return set.selections.every(selection => {
      if (selection.kind === Kind.FIELD) {
        if (!takes(type, selection)) return false
        const field = isUnionType(type) ? undefined : type.getFields()[selection.name.value]
        const inner = field && getNamedType(field.type)
        return !selection.selectionSet || !isCompositeType(inner) || visit(selection.selectionSet, inner)
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value)! : selection
      const condition = fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : type
      return isCompositeType(condition) && visit(fragment.selectionSet, condition)
    })
  }
  return visit(definition.selectionSet, root) ? shared : null
}

/**
 * Narrows two promises to the smaller one. The subscription field comes first, and it alone names an event's subject.
 */
const least = (one: Sharing, other: Sharing): Sharing => ({
  by: one.by === 'EVERYONE' ? other.by : one.by,
  sameScopes: one.sameScopes || other.sameScopes,
  latestBy: one.latestBy,
})
