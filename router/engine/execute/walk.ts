import type { FlattenNodePathSegment } from '@graphql-hive/router-query-planner'
import { generate, literal, warming } from '../data/code.ts'
import { countElements, type Elements, TooManyElements } from '../data/elements.ts'
import type { Data } from '../data/merge.ts'
import type { Supergraph } from '../supergraph.ts'
import { visitTargets } from './entities.ts'

/** A list or an object of the data, by index or key. */
export type Owner = Record<string | number, unknown>

/**
 * Visits every object at one path of a plan, as `visitTargets` does, with its containing object instead of its path.
 */
export type Walk = (data: Data, visit: (object: Data, owner: Owner | null, key: string | number) => void) => void

type CountedWalk = (data: Data, visit: Parameters<Walk>[1], elements: Elements) => void

/** Creates a walk; code is generated once the walk is repeated. The interpreter reports no containing objects. */
export function createWalk(path: readonly FlattenNodePathSegment[], supergraph: Supergraph): Walk {
  const form = warming<CountedWalk>(
    (data, visit, elements) => visitTargets(data, path, supergraph, elements, object => visit(object, null, 0)),
    () => generateWalk(path, supergraph),
  )
  return (data, visit) => form()(data, visit, countElements())
}

/** Generates a walk with two functions for each segment: `any` unpacks lists, `object` follows the segment. */
function generateWalk(path: readonly FlattenNodePathSegment[], supergraph: Supergraph): CountedWalk {
  const names: Record<string, unknown> = { isArray: Array.isArray, hasOwn: Object.hasOwn, TooManyElements }
  const functions: string[] = []
  for (let at = 0; at <= path.length; at++) {
    const next = path[at] === '@' ? at + 1 : at
    functions.push(`function any${at}(value, owner, key, visit, elements) {
if (isArray(value)) {
if ((elements.left -= value.length) < 0) throw new TooManyElements()
for (let index = 0; index < value.length; index++) {
const item = value[index]
if (isArray(item)) any${at}(item, value, index, visit, elements)
else if (typeof item === 'object' && item !== null) object${next}(item, value, index, visit, elements)
}
} else if (typeof value === 'object' && value !== null) object${at}(value, owner, key, visit, elements)
}`)
    functions.push(`function object${at}(value, owner, key, visit, elements) {\n${follow(path[at], at)}\n}`)
  }
  return generate<CountedWalk>(`${functions.join('\n')}\nreturn (data, visit, elements) => object0(data, null, 0, visit, elements)`, names)

  function follow(segment: FlattenNodePathSegment | undefined, at: number): string {
    if (segment === undefined) return 'visit(value, owner, key)'
    if (segment === '@') return `object${at + 1}(value, owner, key, visit, elements)`
    if ('Field' in segment) {
      const field = literal(segment.Field)
      const step = `any${at + 1}(value[${field}], value, ${field}, visit, elements)`
      return segment.Field in Object.prototype ? `if (hasOwn(value, ${field})) ${step}` : step
    }
    const conditions = segment.TypeCondition
    names[`covers${at}`] = (typename: string) => conditions.some(condition => supergraph.covers(condition, typename))
    return `const typename = value.__typename
if (typeof typename !== 'string' || covers${at}(typename)) object${at + 1}(value, owner, key, visit, elements)`
  }
}
