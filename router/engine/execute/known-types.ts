import type { RequiresSelection } from '@graphql-hive/router-query-planner'
import { type DocumentNode, type FieldNode, Kind, visit } from 'graphql'
import type { Supergraph } from '../supergraph.ts'
import type { Path, PlacedDocument, PlanTree, Spot } from './plan-tree.ts'

/** Object types that the supergraph determines, so that subgraphs need not answer them. */
export interface KnownTypes {
  /** Returns the document without type names that are known already; the same document when nothing is removed. */
  withoutKnown(document: DocumentNode): DocumentNode
  /** Type of all objects at a path whose `__typename` was not fetched; null where it was. */
  at(path: Path): string | null
}

/**
 * Finds where `__typename` in a plan's documents adds nothing. Planners select it for every object from which a later
 * fetch starts; where the supergraph gives a field an object type there is one possible answer, which would be repeated
 * for every object of every list.
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

  /** Whether the type is known wherever the fragment of this field is used. */
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
