import type { FlattenNodePathSegment, RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode, visit } from 'graphql'
import type { Supergraph } from '../supergraph.ts'

type Path = readonly FlattenNodePathSegment[]

/** A document of a plan, and where what it brings is put. */
export interface PlacedDocument {
  readonly document: DocumentNode
  /** For each of its `_entities` fields, by response key, the paths of its entities; null for a fetch of root fields. */
  readonly entities: ReadonlyMap<string, readonly Path[]> | null
  readonly requires: readonly RequiresSelection[]
}

/** What the supergraph says of the types of objects, so that no subgraph has to. */
export interface KnownTypes {
  /** A document without the type names that need not be asked; the same one when it has none. */
  withoutKnown(document: DocumentNode): DocumentNode
  /** The type of every object at a path that came without its name; null where names are asked. */
  at(path: Path): string | null
}

/** One place of the data, lists aside: which types its fields are declared with, and what stands below. */
interface Spot {
  /** An empty name stands for a type that is not known. */
  readonly types: Set<string>
  readonly below: Map<string, Spot>
}

/**
 * Finds where in a plan's documents `__typename` says nothing new. Planners ask it of every object that a later fetch starts
 * from; where a field has an object type in the supergraph there is one answer to it, which would come with every object
 * of every list.
 */
export function createKnownTypes(placed: readonly PlacedDocument[], supergraph: Supergraph): KnownTypes {
  // A subgraph may need the names within what it is told: then all of them are asked.
  if (placed.some(({ requires }) => requires.some(hasNestedName))) return { withoutKnown: document => document, at: () => null }
  const root = createSpot()
  const spotsOf = new Map<FieldNode, Spot[]>()
  for (const { document, entities } of placed) place(document, entities)

  return {
    withoutKnown: document =>
      visit(document, {
        SelectionSet: {
          leave(set) {
            const kept = set.selections.filter(selection => selection.kind !== Kind.FIELD || !isKnown(selection))
            // A selection cannot be empty.
            return kept.length === set.selections.length || kept.length === 0 ? undefined : { ...set, selections: kept }
          },
        },
      }),
    at: path => typeOf(path.reduce((spot, segment) => (isField(segment) ? below(spot, segment.Field) : spot), root)),
  }

  function place(document: DocumentNode, entities: PlacedDocument['entities']): void {
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue
      const { selectionSet, operation } = definition
      if (!entities) enter(selectionSet, supergraph.schema.getRootType(operation)?.name, [root], fragments)
      else {
        for (const field of selectionSet.selections) {
          const paths = field.kind === Kind.FIELD ? entities.get(keyOf(field)) : undefined
          if (field.kind !== Kind.FIELD || !field.selectionSet || !paths) continue
          enter(field.selectionSet, undefined, paths.map(spotAt), fragments)
        }
      }
    }
  }

  function enter(set: SelectionSetNode, parent: string | undefined, spots: readonly Spot[], fragments: ReadonlyMap<string, FragmentDefinitionNode>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        enter(selection.selectionSet, selection.typeCondition?.name.value ?? parent, spots, fragments)
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value)
        if (fragment) enter(fragment.selectionSet, fragment.typeCondition.name.value, spots, fragments)
      } else if (selection.name.value === '__typename') {
        spotsOf.set(selection, [...(spotsOf.get(selection) ?? []), ...spots])
      } else if (selection.selectionSet) {
        const type = supergraph.fieldTypes.get(`${parent}.${selection.name.value}`)
        const inner = spots.map(spot => below(spot, keyOf(selection)))
        for (const spot of inner) spot.types.add(type ?? '')
        enter(selection.selectionSet, type, inner, fragments)
      }
    }
  }

  function spotAt(path: Path): Spot {
    return path.reduce((spot, segment) => (isField(segment) ? below(spot, segment.Field) : spot), root)
  }

  /** Known wherever the node's fragment is used. */
  function isKnown(node: FieldNode): boolean {
    const spots = node.name.value === '__typename' && !node.alias ? spotsOf.get(node) : undefined
    return spots?.every(spot => typeOf(spot) !== null) ?? false
  }

  function typeOf({ types }: Spot): string | null {
    const [only] = types
    return types.size === 1 && only !== undefined && supergraph.isObject(only) ? only : null
  }
}

const createSpot = (): Spot => ({ types: new Set(), below: new Map() })

function below(spot: Spot, key: string): Spot {
  const known = spot.below.get(key) ?? createSpot()
  spot.below.set(key, known)
  return known
}

const keyOf = (field: FieldNode) => (field.alias ?? field.name).value

const isField = (segment: FlattenNodePathSegment): segment is { Field: string } => typeof segment !== 'string' && 'Field' in segment

/** Whether a type name is required of an object within a representation. */
function hasNestedName(selection: RequiresSelection, _index?: number, _all?: unknown, nested = false): boolean {
  if (selection.kind === 'Field') {
    return selection.name === '__typename' ? nested : (selection.selections ?? []).some(inner => hasNestedName(inner, 0, null, true))
  }
  return selection.kind === 'InlineFragment' && selection.selections.some(inner => hasNestedName(inner, 0, null, nested))
}
