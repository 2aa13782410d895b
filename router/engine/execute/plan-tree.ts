import type { FlattenNodePathSegment, RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'
import type { Supergraph } from '../supergraph.ts'

export type Path = readonly FlattenNodePathSegment[]

/** A document of a plan, and where its data is merged. */
export interface PlacedDocument {
  readonly document: DocumentNode
  /** Paths of the entities for each `_entities` field, by response key; null for a fetch of root fields. */
  readonly entities: ReadonlyMap<string, readonly Path[]> | null
  readonly requires: readonly RequiresSelection[]
}

/** All data that the fetches of a plan bring, as one tree; lists and type conditions are ignored. */
export interface PlanTree {
  at(path: Path): Spot
  /** Returns the places of the objects whose `__typename` a document selects here. */
  namedAt(typename: FieldNode): readonly Spot[]
}

/** Objects at one place of the data. */
export interface Spot {
  /** Declared types of the fields that hold the objects; an empty name for an unknown type. */
  readonly types: Set<string>
  /** Documents that fetch these objects. */
  readonly sources: Set<DocumentNode>
  readonly below: Map<string, Spot>
}

/** Reads all documents of a plan once. */
export function createPlanTree(placed: readonly PlacedDocument[], supergraph: Pick<Supergraph, 'schema' | 'fieldTypes'>): PlanTree {
  const root = createSpot()
  const named = new Map<FieldNode, Spot[]>()
  const at = (path: Path) => path.reduce((spot, segment) => (isField(segment) ? below(spot, segment.Field) : spot), root)
  for (const { document, entities } of placed) place(document, entities)
  return { at, namedAt: typename => named.get(typename) ?? [] }

  function place(document: DocumentNode, entities: PlacedDocument['entities']): void {
    const fragments = new Map<string, FragmentDefinitionNode>()
    for (const definition of document.definitions) if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue
      if (!entities) {
        enter(definition.selectionSet, supergraph.schema.getRootType(definition.operation)?.name, [root])
        continue
      }
      for (const field of definition.selectionSet.selections) {
        const paths = field.kind === Kind.FIELD ? entities.get(keyOf(field)) : undefined
        if (field.kind === Kind.FIELD && field.selectionSet && paths) enter(field.selectionSet, undefined, paths.map(at))
      }
    }

    function enter(set: SelectionSetNode, parent: string | undefined, spots: readonly Spot[]): void {
      for (const selection of set.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          enter(selection.selectionSet, selection.typeCondition?.name.value ?? parent, spots)
        } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const fragment = fragments.get(selection.name.value)
          if (fragment) enter(fragment.selectionSet, fragment.typeCondition.name.value, spots)
        } else if (selection.name.value === '__typename') {
          named.set(selection, [...(named.get(selection) ?? []), ...spots])
        } else if (selection.selectionSet) {
          const type = supergraph.fieldTypes.get(`${parent}.${selection.name.value}`)
          const inner = spots.map(spot => below(spot, keyOf(selection)))
          for (const spot of inner) {
            spot.types.add(type ?? '')
            spot.sources.add(document)
          }
          enter(selection.selectionSet, type, inner)
        }
      }
    }
  }
}

/**
 * Whether a second walk along a path meets the same objects: no object on it is fetched twice (the later fetch might
 * fill in an object where the first had none), and nothing depends on type names, which may become more precise.
 */
export function isSettled(path: Path, tree: PlanTree): boolean {
  return path.every((segment, index) => {
    if (segment === '@') return true
    return isField(segment) && tree.at(path.slice(0, index + 1)).sources.size === 1
  })
}

const createSpot = (): Spot => ({ types: new Set(), sources: new Set(), below: new Map() })

function below(spot: Spot, key: string): Spot {
  const known = spot.below.get(key) ?? createSpot()
  spot.below.set(key, known)
  return known
}

const keyOf = (field: FieldNode) => (field.alias ?? field.name).value

const isField = (segment: FlattenNodePathSegment): segment is { Field: string } => typeof segment !== 'string' && 'Field' in segment
