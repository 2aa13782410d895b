import { type FieldNode, type GraphQLCompositeType, type GraphQLSchema, getNamedType, isCompositeType, isUnionType, Kind, type SelectionSetNode } from 'graphql'
import type { Deferral, Deferrals } from '../operation/deferral.ts'
import type { Names } from '../operation/names.ts'
import type { Operation } from '../operation/operation.ts'
import { saysWhatIsKnown } from '../plan/known-fragments.ts'
import type { Path } from './plan-tree.ts'

/** Which payloads of an incremental answer need the values at one place of the data; the types of objects do not count. */
export interface Need {
  /** Deferrals that need the value; null stands for the first payload. */
  readonly by: Set<Deferral | null>
  /** Whether a client selects the value; else only fetches require it. */
  isSelected: boolean
  /** The deferral of the other elements of a list that is streamed here; null elsewhere. */
  stream: Deferral | null
  /** Whether a fetch requires fields of the list's elements: then they are all fetched at once. */
  isRequiredWhole: boolean
  readonly below: Map<string, Need>
}

export const createNeed = (): Need => ({ by: new Set(), isSelected: false, stream: null, isRequiredWhole: false, below: new Map() })

/** Returns the need below another one under a key, which is created where it is new. */
export function needBelow(need: Need, key: string): Need {
  const known = need.below.get(key)
  if (known) return known
  const made = createNeed()
  need.below.set(key, made)
  return made
}

/** Returns the need at a path of a plan. */
export const needAt = (root: Need, path: Path): Need =>
  path.reduce((need, segment) => (typeof segment !== 'string' && 'Field' in segment ? needBelow(need, segment.Field) : need), root)

/** Returns the streamed list that a path of a plan leads through, and whose elements are fetched at two times; null where there is none. */
export function streamOn(root: Need, path: Path): Deferral | null {
  let need = root
  for (const segment of path) {
    if (need.stream) return need.isRequiredWhole ? null : need.stream
    if (typeof segment !== 'string' && 'Field' in segment) need = needBelow(need, segment.Field)
  }
  return need.isRequiredWhole ? null : need.stream
}

/** A list of the data whose elements are fetched and sent at two times. */
export interface StreamedList {
  readonly stream: Deferral
  /** Keys to the objects that hold the list. */
  readonly owner: Path
  readonly key: string
}

/** Returns the streamed lists of an operation. */
export function streamsIn(need: Need, path: Path = []): StreamedList[] {
  return [...need.below].flatMap(([key, inner]) => [
    ...(inner.stream ? [{ stream: inner.stream, owner: path, key }] : []),
    ...streamsIn(inner, [...path, { Field: key }]),
  ])
}

/** Reads an operation as a tree of the data's keys, each with the payloads that show it. */
export function readNeeds({ definition, fragments }: Operation, names: Names, schema: GraphQLSchema, deferrals: Deferrals): Need {
  const root = createNeed()
  const rootType = schema.getRootType(definition.operation)
  root.by.add(null)
  if (rootType) read(definition.selectionSet, rootType, root, [], null, new Set())
  return root

  /** @param spread names of the fragments that were read here, with the deferral that they were read for */
  function read(set: SelectionSetNode, parent: GraphQLCompositeType, need: Need, path: readonly string[], by: Deferral | null, spread: Set<string>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        readField(selection, parent, need, path, by)
        continue
      }
      const within = deferrals.begun(selection, path, by)
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        read(selection.selectionSet, typeIn(selection.typeCondition?.name.value, parent), need, path, within, spread)
        continue
      }
      const once = `${selection.name.value} ${within?.id ?? ''}`
      const fragment = fragments.get(selection.name.value)
      if (!fragment || spread.has(once)) continue
      spread.add(once)
      read(fragment.selectionSet, typeIn(fragment.typeCondition.name.value, parent), need, path, within, spread)
    }
  }

  function readField(node: FieldNode, parent: GraphQLCompositeType, need: Need, path: readonly string[], by: Deferral | null): void {
    const field = isUnionType(parent) ? undefined : parent.getFields()[node.name.value]
    if (!field) return
    const key = names.keyOf(node, parent.name)
    const inner = needBelow(need, key)
    inner.by.add(by)
    inner.isSelected = true
    const at = [...path, (node.alias ?? node.name).value]
    inner.stream = deferrals.streamAt(at)
    const type = getNamedType(field.type)
    if (isCompositeType(type) && node.selectionSet) read(node.selectionSet, type, inner, at, by, new Set())
  }

  function typeIn(condition: string | undefined, parent: GraphQLCompositeType): GraphQLCompositeType {
    const type = condition === undefined ? parent : schema.getType(condition)
    return isCompositeType(type) && !saysWhatIsKnown(type, parent, schema) ? type : parent
  }
}
