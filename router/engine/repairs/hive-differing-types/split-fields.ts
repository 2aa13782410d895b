import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql'
import type { Elements } from '../../data/elements.ts'
import { type Data, isData, type MergeShape, mergeByShape } from '../../data/merge.ts'
import type { Supergraph } from '../../supergraph.ts'

/** A key of an answer that replaces another one. */
export interface SplitField {
  /** Keys from the root of the answer to the objects that may have the replaced key. */
  readonly path: readonly string[]
  readonly key: string
  /** The original key. */
  readonly for: string
  /** Shape of the objects under the key, if its values are objects. */
  readonly shape: MergeShape | null
}

type Typed = Pick<Supergraph, 'subgraphTypes' | 'fieldNames' | 'isLeaf' | 'interfaceKeys'>

/** A selection whose aliases can still be changed. Its fragments are those of fields. */
interface Selected {
  readonly node: FieldNode | null
  readonly condition: string | undefined
  readonly parent: string | undefined
  key: string
  readonly inner: readonly Selected[]
}

/**
 * Gives separate keys to fields that one subgraph cannot answer under the same key, because it types them differently
 * on two types: `id: ID!` and `id: ID`. The supergraph types them alike, so clients, and planners past the next
 * fragment, select them side by side (GraphQL, section 5.3.2). Returns the very same document where there are no such
 * fields.
 */
export function splitFields(
  document: DocumentNode,
  subgraph: string,
  supergraph: Typed,
): { readonly document: DocumentNode; readonly split: readonly SplitField[] } {
  const { subgraphTypes, fieldNames, isLeaf, interfaceKeys } = supergraph
  const split: SplitField[] = []
  // Keys of interfaces have no private names, whatever their types.
  if (!subgraphTypes.differing.has(subgraph) && interfaceKeys.size === 0) return { document, split }
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  const definitions = document.definitions.flatMap(definition => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return []
    const selections = read(definition.selectionSet, undefined)
    separate(selections, [])
    return [{ ...definition, selectionSet: setOf(selections) }]
  })
  return split.length === 0 ? { document, split } : { document: { kind: Kind.DOCUMENT, definitions }, split }

  function read(set: SelectionSetNode, parent: string | undefined): Selected[] {
    return set.selections.flatMap((selection): Selected[] => {
      if (selection.kind === Kind.FIELD) {
        const type = subgraphTypes.typeIn(subgraph, `${parent}.${selection.name.value}`)
        const inner = selection.selectionSet ? read(selection.selectionSet, type && namedIn(type)) : []
        return [{ node: selection, condition: undefined, parent, key: keyOf(selection), inner }]
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
      if (!fragment) return []
      const condition = fragment.typeCondition?.name.value
      return [{ node: null, condition, parent, key: '', inner: read(fragment.selectionSet, condition ?? parent) }]
    })
  }

  /** Separates all selections of one place: each key keeps its first type. */
  function separate(selections: readonly Selected[], path: readonly string[]): void {
    const byKey = Map.groupBy(fieldsOf(selections), field => field.key)
    for (const [key, fields] of byKey) {
      const [first, ...others] = Map.groupBy(fields, formOf).values()
      separateBelow(first!, path)
      for (const other of others) {
        const own = freeKey()
        for (const field of other) field.key = own
        split.push({ path, key: own, for: key, shape: shapeBelow(other) })
        separateBelow(other, path)
      }
    }
  }

  function separateBelow(fields: readonly Selected[], path: readonly string[]): void {
    const inner = fields.flatMap(field => field.inner)
    if (inner.length > 0) separate(inner, [...path, fields[0]!.key])
  }

  /**
   * The type features that must agree for two fields under one key: lists, nullability, and the names of leaf types.
   */
  function formOf({ node, parent }: Selected): string {
    const name = node!.name.value
    const type = name === '__typename' ? 'String!' : (subgraphTypes.typeIn(subgraph, `${parent}.${name}`) ?? '')
    const named = namedIn(type)
    return isLeaf(named) ? type : type.replace(named, '')
  }

  function freeKey(): string {
    let key = `_c${split.length}`
    while (fieldNames.has(key)) key += '_'
    return key
  }
}

/**
 * Restores the original keys of separated fields. Idempotent.
 * @param split fields of the answer's own objects, with their paths from there
 */
export function joinBack(answer: Data, split: readonly SplitField[], supergraph: Supergraph, elements: Elements): void {
  // What stands deeper was split off later, and is found by the keys above it as they were answered.
  for (let index = split.length - 1; index >= 0; index--) visit(answer, split[index]!, 0)

  function visit(value: unknown, one: SplitField, at: number): void {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, one, at)
    } else if (!isData(value)) {
      return
    } else if (at < one.path.length) {
      if (Object.hasOwn(value, one.path[at]!)) visit(value[one.path[at]!], one, at + 1)
    } else if (Object.hasOwn(value, one.key)) {
      const shape: MergeShape = new Map([[one.for, one.shape]])
      mergeByShape(value, { [one.for]: value[one.key] }, shape, supergraph, elements)
      delete value[one.key]
    }
  }
}

const fieldsOf = (selections: readonly Selected[]): Selected[] => selections.flatMap(selection => (selection.node ? [selection] : fieldsOf(selection.inner)))

function setOf(selections: readonly Selected[]): SelectionSetNode {
  return {
    kind: Kind.SELECTION_SET,
    selections: selections.map(({ node, condition, key, inner }): SelectionNode => {
      if (!node) {
        const typeCondition = condition === undefined ? {} : { typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: condition } } as const }
        return { kind: Kind.INLINE_FRAGMENT, ...typeCondition, selectionSet: setOf(inner) }
      }
      const { alias: _alias, selectionSet, ...rest } = node
      const alias = key === node.name.value ? {} : { alias: { kind: Kind.NAME, value: key } as const }
      return { ...rest, ...alias, ...(selectionSet && { selectionSet: setOf(inner) }) }
    }),
  }
}

/** Returns the shape that fields select, under the original keys. */
function shapeBelow(fields: readonly Selected[]): MergeShape | null {
  if (!fields.some(field => field.inner.length > 0)) return null
  const byKey = Map.groupBy(fieldsOf(fields.flatMap(field => field.inner)), field => field.key)
  return new Map([...byKey].map(([key, inner]) => [key, shapeBelow(inner)]))
}

const keyOf = (field: FieldNode) => (field.alias ?? field.name).value

const namedIn = (type: string) => type.replace(/[[\]!]/g, '')
