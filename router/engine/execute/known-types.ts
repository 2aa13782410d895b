import type { RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, type FieldNode, Kind, visit } from 'graphql'
import type { Supergraph } from '../supergraph.ts'
import type { Path, PlacedDocument, PlanTree, Spot } from './plan-tree.ts'

/** What the supergraph says of the types of objects, so that no subgraph has to. */
export interface KnownTypes {
  /** A document without the type names that need not be asked; the same one when it has none. */
  withoutKnown(document: DocumentNode): DocumentNode
  /** The type of every object at a path that came without its name; null where names are asked. */
  at(path: Path): string | null
}

/**
 * Finds where in a plan's documents `__typename` says nothing new. Planners ask it of every object that a later fetch starts
 * from; where a field has an object type in the supergraph there is one answer to it, which would come with every object
 * of every list.
 */
export function createKnownTypes(placed: readonly PlacedDocument[], tree: PlanTree, supergraph: Pick<Supergraph, 'isObject'>): KnownTypes {
  // A subgraph may need the type names within its arguments: then all of them are fetched.
  if (placed.some(({ requires }) => requires.some(hasNestedName))) return { withoutKnown: document => document, at: () => null }
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
    at: path => typeOf(tree.at(path)),
  }

  /** Known wherever a fragment that it stands in is used. */
  function isKnown(node: FieldNode): boolean {
    if (node.name.value !== '__typename' || node.alias) return false
    const spots = tree.namedAt(node)
    return spots.length > 0 && spots.every(spot => typeOf(spot) !== null)
  }

  function typeOf({ types }: Spot): string | null {
    const [only] = types
    return types.size === 1 && only !== undefined && supergraph.isObject(only) ? only : null
  }
}

/** Whether a type name is required of an object within a representation. */
const hasNestedName = (selection: RequiresSelection): boolean =>
  selection.kind === 'InlineFragment' ? selection.selections.some(hasNestedName) : selection.kind === 'Field' && (selection.selections ?? []).some(hasName)

const hasName = (selection: RequiresSelection): boolean =>
  selection.kind === 'Field'
    ? selection.name === '__typename' || (selection.selections ?? []).some(hasName)
    : selection.kind === 'InlineFragment' && selection.selections.some(hasName)
