import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'
import type { CacheHint, CacheHints } from './cache-hints.ts'

/** How long something may be kept, by the schema alone. */
export interface Keeping {
  /** Seconds; infinite where nothing limits it. */
  readonly maxAge: number
  readonly isPrivate: boolean
  /** Whether a hint of the schema concerns it. */
  readonly isSaid: boolean
}

/** How long answers to one operation may be kept, by the schema alone. */
export interface OperationCaching {
  /** Seconds; infinite where nothing of the schema limits it. */
  readonly maxAge: number
  readonly isPrivate: boolean
  /** Whether a field of the operation has an access rule. */
  readonly isGuarded: boolean
  /** Whether the schema says something about each of its root fields. */
  readonly isSaid: boolean
}

/** The parts of a supergraph that say how long answers may be kept. */
export interface KeepingGraph {
  readonly hints: CacheHints
  readonly fieldTypes: ReadonlyMap<string, string>
  isLeaf(name: string): boolean
}

/** The selections of one object, and its type. */
export interface Selected {
  readonly set: SelectionSetNode
  readonly type: string
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
}

/**
 * Returns how long one field may be kept with all that is selected below it, as Apollo Server reads hints: the field's
 * hint, else that of its type. Root fields and fields of objects have the default where neither names an age; leaves,
 * and fields with `inheritMaxAge`, have their parent's.
 * @param defaultAge seconds
 */
export function keepingOfField(graph: KeepingGraph, coordinate: string, selected: Selected | null, isRoot: boolean, defaultAge: number): Keeping {
  const found = { maxAge: Number.POSITIVE_INFINITY, isPrivate: false, isSaid: false }
  restrictByField(graph, coordinate, selected !== null, isRoot, defaultAge, found)
  if (selected) restrictBySelections(graph, selected, defaultAge, found)
  return found
}

/** The same for an entity that a subgraph answers by its key. */
export function keepingOfEntity(graph: KeepingGraph, selected: Selected, defaultAge: number): Keeping {
  const found = { maxAge: Number.POSITIVE_INFINITY, isPrivate: false, isSaid: false }
  const hint = graph.hints.types.get(selected.type)
  if (hint) restrict(hint, found)
  if (hint?.maxAge === undefined) found.maxAge = defaultAge
  restrictBySelections(graph, selected, defaultAge, found)
  return found
}

type Found = { -readonly [Key in keyof Keeping]: Keeping[Key] }

function restrictBySelections(graph: KeepingGraph, { set, type, fragments }: Selected, defaultAge: number, found: Found): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      const name = selection.name.value
      if (name === '__typename') continue
      const coordinate = `${type}.${name}`
      const inner = selection.selectionSet
      restrictByField(graph, coordinate, inner !== undefined, false, defaultAge, found)
      const below = graph.fieldTypes.get(coordinate)
      if (inner && below !== undefined) restrictBySelections(graph, { set: inner, type: below, fragments }, defaultAge, found)
      continue
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    if (!fragment) continue
    const condition = fragment.typeCondition?.name.value ?? type
    const hint = condition === type ? undefined : graph.hints.types.get(condition)
    if (hint) restrict(hint, found)
    restrictBySelections(graph, { set: fragment.selectionSet, type: condition, fragments }, defaultAge, found)
  }
}

function restrictByField(
  { hints, fieldTypes }: KeepingGraph,
  coordinate: string,
  isComposite: boolean,
  isRoot: boolean,
  defaultAge: number,
  found: Found,
): void {
  const own = hints.fields.get(coordinate)
  const ofType = isComposite ? hints.types.get(fieldTypes.get(coordinate) ?? '') : undefined
  if (ofType) restrict({ ...ofType, maxAge: own?.maxAge ?? ofType.maxAge, isPrivate: own?.isPrivate ?? ofType.isPrivate }, found)
  else if (own) restrict(own, found)
  if ((own?.maxAge !== undefined && !(isComposite && own.isPartial)) || ofType?.maxAge !== undefined) return
  const inherits = (own?.inherits || ofType?.inherits) ?? false
  if (isRoot || (isComposite && !inherits)) found.maxAge = Math.min(found.maxAge, defaultAge)
}

function restrict({ maxAge, isPrivate }: CacheHint, found: Found): void {
  found.isSaid = true
  if (maxAge !== undefined) found.maxAge = Math.min(found.maxAge, maxAge)
  if (isPrivate) found.isPrivate = true
}
