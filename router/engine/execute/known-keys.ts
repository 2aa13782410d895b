import type { FlattenNodePathSegment, RequiresSelection } from '@graphql-hive/router-query-planner'
import type { MergeShape } from '../data/merge.ts'

/** Tracks during compilation which keys the fetches of a plan have brought so far. */
export interface KnownKeys {
  add(path: readonly FlattenNodePathSegment[], shape: MergeShape): void
  /** Returns the keys that objects at a path hold at most; null where nothing is known. */
  below(path: readonly FlattenNodePathSegment[]): MergeShape | null
}

type Tree = Map<string, Tree | null>

/** Starts with nothing known. */
export function createKnownKeys(): KnownKeys {
  const root: Tree = new Map()
  const find = (path: readonly FlattenNodePathSegment[]): Tree | null => {
    let tree: Tree = root
    for (const segment of path) {
      if (typeof segment === 'string' || !('Field' in segment)) continue
      const next = tree.get(segment.Field)
      if (!next) return null
      tree = next
    }
    return tree
  }
  return {
    add(path, shape) {
      const tree = find(path)
      if (tree) unite(tree, shape)
    },
    below: find,
  }
}

function unite(tree: Tree, shape: MergeShape): void {
  for (const [key, inner] of shape) {
    if (inner === null) {
      if (!tree.has(key)) tree.set(key, null)
      continue
    }
    const known = tree.get(key) ?? new Map()
    tree.set(key, known)
    unite(known, inner)
  }
}

/**
 * Whether a representation contains everything that an object holds, so that equal representations stand for equal
 * objects.
 */
export function isKnownWhole(held: MergeShape | null, requires: readonly RequiresSelection[]): boolean {
  if (!held || requires.length === 0) return false
  const keys = [...held].filter(([key]) => key !== '__typename')
  if (keys.some(([, inner]) => inner !== null)) return false
  return requires.every(fragment => {
    if (fragment.kind !== 'InlineFragment') return false
    const selected = new Set(fragment.selections.map(selection => (selection.kind === 'Field' && !selection.selections?.length ? selection.name : null)))
    return !selected.has(null) && keys.every(([key]) => selected.has(key))
  })
}
