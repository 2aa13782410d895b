import type { FetchNodePathSegment, FetchRewrite, FlattenNodePathSegment, RequiresSelection } from '@graphql-hive/router-query-planner'
import { type Elements, takeElements } from '../data/elements.ts'
import { type Data, isData } from '../data/merge.ts'
import type { Place } from '../errors.ts'
import type { Supergraph } from '../supergraph.ts'

/**
 * Visits every object at a plan's path. One `@` stands for lists of any depth.
 * @param elements counts the elements of the lists on the way
 * @param trail path of `value`; completed for the visitor, and only maintained when it is not null
 */
export function visitTargets(
  value: unknown,
  path: readonly FlattenNodePathSegment[],
  supergraph: Supergraph,
  elements: Elements,
  visit: (object: Data, place: Place | null) => void,
  trail: Place | null = null,
  at = 0,
): void {
  if (Array.isArray(value)) {
    takeElements(elements, value.length)
    // Only nested lists, and lists before an `@`, arrive here: both are traversed for any following segment.
    const next = path[at] === '@' ? at + 1 : at
    for (let index = 0; index < value.length; index++) {
      const item = value[index]
      const itemTrail = trail && [...trail, index]
      visitTargets(item, path, supergraph, elements, visit, itemTrail, Array.isArray(item) ? at : next)
    }
    return
  }
  if (!isData(value)) return
  const segment = path[at]
  if (segment === undefined) {
    visit(value, trail)
  } else if (segment === '@') {
    visitTargets(value, path, supergraph, elements, visit, trail, at + 1)
  } else if ('Field' in segment) {
    if (Object.hasOwn(value, segment.Field)) visitTargets(value[segment.Field], path, supergraph, elements, visit, trail && [...trail, segment.Field], at + 1)
  } else if (isOneOf(segment.TypeCondition, value, supergraph)) {
    visitTargets(value, path, supergraph, elements, visit, trail, at + 1)
  }
}

/**
 * Whether an object is of one of these types. A plan omits the type name only where the object has a single possible
 * type.
 */
export function isOneOf(conditions: readonly string[], object: Data, supergraph: Supergraph): boolean {
  const typename = object.__typename
  return typeof typename !== 'string' || conditions.some(condition => supergraph.covers(condition, typename))
}

/**
 * Builds the representation of an entity for a subgraph; null when it would hold nothing but the type. The object is
 * always a new one, because resolvers may keep or return it. Null values are included, absent ones are not.
 */
export function representationOf(object: Data, requires: readonly RequiresSelection[], rewrites: readonly FetchRewrite[], supergraph: Supergraph): Data | null {
  const representation: Data = {}
  fill(representation, object, requires, supergraph)
  if (!Object.hasOwn(representation, '__typename') || Object.keys(representation).length < 2) return null
  for (const rewrite of rewrites) applyRewrite(representation, rewrite, supergraph)
  return representation
}

function fill(into: Data, object: Data, selections: readonly RequiresSelection[], supergraph: Supergraph): void {
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') {
      if (isOneOf([selection.typeCondition], object, supergraph)) fill(into, object, selection.selections, supergraph)
    } else if (selection.kind === 'Field') {
      if (!Object.hasOwn(object, selection.name)) continue
      const value = object[selection.name]
      const key = selection.alias ?? selection.name
      into[key] = selection.selections?.length ? pick(value, selection.selections, into[key], supergraph) : value
    } else {
      throw new Error(`A plan requires a named fragment (${selection.value}), which this executor does not know`)
    }
  }
}

function pick(value: unknown, selections: readonly RequiresSelection[], present: unknown, supergraph: Supergraph): unknown {
  if (Array.isArray(value)) return value.map((item, index) => pick(item, selections, Array.isArray(present) ? present[index] : undefined, supergraph))
  if (!isData(value)) return value
  const picked = isData(present) ? present : {}
  fill(picked, value, selections, supergraph)
  return picked
}

/** Applies one rewrite of a plan to an object or to the objects below it. Idempotent. */
export function applyRewrite(object: Data, rewrite: FetchRewrite, supergraph: Supergraph): void {
  if ('KeyRenamer' in rewrite) {
    const { path, renameKeyTo } = rewrite.KeyRenamer
    atPath(object, path, 0, supergraph, (owner, key) => {
      // Copied, because a later fetch may still read the value under the inner name.
      if (Object.hasOwn(owner, key)) owner[renameKeyTo] = owner[key]
    })
  } else {
    const { path, setValueTo } = 'ValueSetter' in rewrite ? rewrite.ValueSetter : rewrite
    atPath(object, path, 0, supergraph, (owner, key) => {
      owner[key] = setValueTo
    })
  }
}

function atPath(value: unknown, path: readonly FetchNodePathSegment[], at: number, supergraph: Supergraph, change: (owner: Data, key: string) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) atPath(item, path, at, supergraph, change)
    return
  }
  const segment = path[at]
  if (segment === undefined || !isData(value)) return
  if ('TypenameEquals' in segment) {
    if (isOneOf(segment.TypenameEquals, value, supergraph)) atPath(value, path, at + 1, supergraph, change)
  } else if (at === path.length - 1) {
    change(value, segment.Key)
  } else if (Object.hasOwn(value, segment.Key)) {
    atPath(value[segment.Key], path, at + 1, supergraph, change)
  }
}
