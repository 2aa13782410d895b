import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'
import type { Supergraph } from '../supergraph.ts'
import { type Elements, takeElements } from './elements.ts'

/** An object between subgraphs: keys are field names or private names, never words of a client. */
export type Data = Record<string, unknown>

/**
 * The shape of a fetch's answer: for each key the shape of its objects, or null for a leaf. A leaf is opaque, because
 * the value of a scalar may be an object of the application's own.
 */
export type MergeShape = ReadonlyMap<string, MergeShape | null>

type OpenShape = Map<string, OpenShape | null>

/** Returns the shape of a fetch document's answer, with all its fragments merged. */
export function shapeOfFetch(document: DocumentNode): MergeShape {
  const fragments = new Map<string, FragmentDefinitionNode>()
  let root: SelectionSetNode | undefined
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    else if (definition.kind === Kind.OPERATION_DEFINITION) root = definition.selectionSet
  }
  const shape: OpenShape = new Map()
  if (root) collect(root, shape, fragments)
  return shape
}

function collect(set: SelectionSetNode, into: OpenShape, fragments: ReadonlyMap<string, FragmentDefinitionNode>): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = fragments.get(selection.name.value)
      if (fragment) collect(fragment.selectionSet, into, fragments)
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      collect(selection.selectionSet, into, fragments)
    } else {
      const key = (selection.alias ?? selection.name).value
      if (!selection.selectionSet) {
        into.set(key, null)
        continue
      }
      const inner: OpenShape = into.get(key) ?? new Map()
      into.set(key, inner)
      collect(selection.selectionSet, inner, fragments)
    }
  }
}

/** Whether a value has the form of an object with fields; only checked where the shape expects an object. */
export const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Copies the selected part of an answer, so that no two places of the data ever share an object.
 * @throws TooManyElements
 */
export function copyByShape(value: unknown, shape: MergeShape, elements: Elements): unknown {
  if (Array.isArray(value)) {
    takeElements(elements, value.length)
    return value.map(item => copyByShape(item, shape, elements))
  }
  if (!isData(value)) return value
  const copy: Data = {}
  for (const [key, inner] of shape) {
    if (!Object.hasOwn(value, key)) continue
    copy[key] = inner === null ? value[key] : copyByShape(value[key], inner, elements)
  }
  return copy
}

/**
 * Merges one answer into an object of the data. The added values are copies, so that several places can receive one
 * answer without sharing it. A null never overwrites a value, list elements merge by index, and the name of an object
 * type is never replaced by the name of an interface (which a subgraph with `@interfaceObject` answers).
 * @throws TooManyElements because places that share objects are visited once for each path to them
 */
export function mergeByShape(target: Data, source: Data, shape: MergeShape, supergraph: Supergraph, elements: Elements): void {
  for (const [key, inner] of shape) {
    if (!Object.hasOwn(source, key)) continue
    const value = source[key]
    const present = Object.hasOwn(target, key) ? target[key] : undefined
    if (value === null || value === undefined) {
      if (present === undefined) target[key] = null
    } else if (present === null || present === undefined) {
      target[key] = inner === null ? value : copyByShape(value, inner, elements)
    } else if (inner !== null) {
      mergeValues(present, value, inner, supergraph, elements)
    } else if (key !== '__typename' || typeof value !== 'string' || supergraph.isObject(value)) {
      target[key] = value
    }
  }
}

function mergeValues(target: unknown, source: unknown, shape: MergeShape, supergraph: Supergraph, elements: Elements): void {
  if (Array.isArray(target)) {
    if (!Array.isArray(source)) return
    const length = Math.min(target.length, source.length)
    takeElements(elements, length)
    for (let index = 0; index < length; index++) {
      if (target[index] === null || target[index] === undefined) target[index] = copyByShape(source[index], shape, elements)
      else mergeValues(target[index], source[index], shape, supergraph, elements)
    }
  } else if (isData(target) && isData(source)) {
    mergeByShape(target, source, shape, supergraph, elements)
  }
}
