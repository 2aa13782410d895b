import { generate, literal, warming } from '../data/code.ts'
import { type Elements, TooManyElements } from '../data/elements.ts'
import { copyByShape, type Data, type MergeShape, mergeByShape } from '../data/merge.ts'
import { joinBack, type SplitField } from '../repairs/hive-differing-types/split-fields.ts'
import type { Supergraph } from '../supergraph.ts'

/** Merges answers of one fetch into the data. */
export interface Merger {
  /** Whether answers hold objects, which two places must not share. */
  readonly hasObjects: boolean
  /** Merges like `mergeByShape`, but reuses the answer's objects: nothing else may hold the answer. */
  take(target: Data, source: Data, elements: Elements): void
  /** Copies the selected part of an answer, for use at another path. */
  copy(source: Data, elements: Elements): Data
}

type Take = Merger['take']

/**
 * Creates a merger; code is generated once the fetch is repeated.
 * @param split fields to be restored in an answer before it has the shape
 */
export function createMerger(shape: MergeShape, supergraph: Supergraph, split: readonly SplitField[] = []): Merger {
  const form = warming<Take>(
    (target, source, elements) => mergeByShape(target, source, shape, supergraph, elements),
    () => generateTake(shape, supergraph),
  )
  const hasObjects = [...shape.values()].some(inner => inner !== null)
  const copy: Merger['copy'] = (source, elements) => copyByShape(source, shape, elements) as Data
  if (split.length === 0) return { hasObjects, take: (target, source, elements) => form()(target, source, elements), copy }
  return {
    hasObjects,
    take(target, source, elements) {
      joinBack(source, split, supergraph, elements)
      form()(target, source, elements)
    },
    copy(source, elements) {
      joinBack(source, split, supergraph, elements)
      return copy(source, elements)
    },
  }
}

function generateTake(shape: MergeShape, supergraph: Supergraph): Take {
  const functions: string[] = []
  let count = 0
  const root = objectTaker(shape)
  return generate<Take>(`${functions.join('\n')}\nreturn ${root}`, {
    isArray: Array.isArray,
    isObject: supergraph.isObject,
    hasOwn: Object.hasOwn,
    TooManyElements,
  })

  function objectTaker(shape: MergeShape): string {
    const self = `take${count++}`
    const lines = [...shape].map(([key, inner]) => {
      const present = `if (present === undefined || present === null) target[${literal(key)}] = value`
      const again = inner
        ? `else ${valueTaker(inner)}(present, value, elements)`
        : `else ${key === '__typename' ? typenameGuard : ''}target[${literal(key)}] = value`
      return `value = ${read('source', key)}
if (value !== undefined) {
present = ${read('target', key)}
if (value === null) { if (present === undefined) target[${literal(key)}] = null }
else ${present}
${again}
}`
    })
    functions.push(`function ${self}(target, source, elements) {\nlet value, present\n${lines.join('\n')}\n}`)
    return self
  }

  function valueTaker(shape: MergeShape): string {
    const self = `any${count++}`
    const object = objectTaker(shape)
    // Objects that received the same answer before contain its values already.
    functions.push(`function ${self}(target, source, elements) {
if (target === source) return
if (isArray(target)) {
if (!isArray(source)) return
const length = Math.min(target.length, source.length)
if ((elements.left -= length) < 0) throw new TooManyElements()
for (let index = 0; index < length; index++) {
if (target[index] === null || target[index] === undefined) target[index] = source[index]
else ${self}(target[index], source[index], elements)
}
} else if (typeof target === 'object' && target !== null && typeof source === 'object' && source !== null && !isArray(source)) ${object}(target, source, elements)
}`)
    return self
  }
}

/** An object type's name never gives way to an interface's. */
const typenameGuard = `if (typeof value !== 'string' || isObject(value)) `

/** Reads a key safely: planners may choose keys that every object inherits. */
const read = (object: string, key: string) =>
  key in Object.prototype ? `(hasOwn(${object}, ${literal(key)}) ? ${object}[${literal(key)}] : undefined)` : `${object}[${literal(key)}]`
