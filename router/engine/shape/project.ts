import { atMost, exactly, type Measure, sizeOf, TooManyBytes } from '../data/bytes.ts'
import { countElements, takeElements } from '../data/elements.ts'
import { type Data, isData } from '../data/merge.ts'
import { type FieldShape, type ObjectShape, runtimeShape, type Shape, type ValueShape } from './shape.ts'

/** A flaw found while shaping: its path, in the client's names, and what is wrong. */
export interface Flaw {
  readonly path: readonly (string | number)[]
  readonly message: string
  /** Whether the flaw is a null in a non-null position: a failed field that was already reported may be the reason. */
  readonly isNull: boolean
}

export interface Projection {
  readonly data: Data | null
  readonly flaws: readonly Flaw[]
}

/** Objects whose entity a subgraph reported as missing, with the representation that it received. */
export type Missing = ReadonlyMap<Data, Data>

/**
 * Maximum number of flaws reported for one answer: a list of a thousand broken elements says nothing more than the
 * first.
 */
const mostFlaws = 100

/**
 * Turns merged data into the answer: the client's aliases in the order of graphql-js, null for missing values, and
 * nulls propagated to the next nullable position as the specification requires (section 6.4.4). A reference to a
 * missing entity is no flaw: where its remaining fields do not suffice, it becomes null, as if the referring field had
 * been answered with null.
 * @param introspection answers of `__schema` and `__type` by response key
 * @param mostBytes     maximum size of the answer as JSON
 * @throws TooMuch for an answer of too many elements or bytes, before it is complete
 */
export function project(shape: Shape, data: Data, introspection: Readonly<Data>, missing: Missing, mostBytes: number): Projection {
  // Text is only measured character by character where its length leaves it open.
  const projection = attempt(shape, data, introspection, missing, mostBytes, atMost) ?? attempt(shape, data, introspection, missing, mostBytes, exactly)
  if (!projection) throw new TooManyBytes(mostBytes)
  return projection
}

/** Tries to shape the answer; null when it takes more bytes, or may take more, by this measure of text. */
function attempt(shape: Shape, data: Data, introspection: Readonly<Data>, missing: Missing, mostBytes: number, measure: Measure): Projection | null {
  let left = mostBytes
  const flaws: Flaw[] = []
  /** Whether the null that propagates now comes from a missing entity, for which no flaw was reported. */
  let untold = false
  const path: (string | number)[] = []
  const elements = countElements()
  try {
    return { data: completeObject(shape.common, data), flaws }
  } catch (cause) {
    if (cause === full) return null
    throw cause
  }

  function take(bytes: number): void {
    left -= bytes
    if (left < 0) throw full
  }

  function flaw(message: string, isNull: boolean): null {
    if (flaws.length < mostFlaws) flaws.push({ path: [...path], message, isNull })
    return null
  }

  /** Completes an object; null when one of its non-null fields is null. */
  function completeObject(shape: ObjectShape, data: Data): Data | null {
    const answer: Data = {}
    take(shape.bytes)
    for (const field of shape.fields) {
      path.push(field.responseKey)
      const value = completeField(field, shape, data)
      path.pop()
      if (value === undefined) return null
      // Plain assignment would change the object's prototype instead.
      if (field.responseKey === '__proto__') Object.defineProperty(answer, '__proto__', { value, enumerable: true, configurable: true, writable: true })
      else answer[field.responseKey] = value
    }
    return answer
  }

  function completeField(field: FieldShape, parent: ObjectShape, data: Data): unknown {
    switch (field.from) {
      case 'data':
        return complete(field.value, read(field, data), field, data, parent)
      case 'typename':
        return complete(field.value, parent.typename, field, data, parent)
      case 'introspection':
        take(sizeOf(introspection[field.responseKey], measure))
        return introspection[field.responseKey] ?? null
      case 'refused':
        return complete(field.value, null, field, data, parent)
    }
  }

  /** Completes a value; undefined when null is not allowed here, and the parent becomes null instead. */
  function complete(shape: ValueShape, value: unknown, field: FieldShape, parent?: Data, parentShape?: ObjectShape): unknown {
    if (value === null || value === undefined) {
      if (!shape.nonNull) {
        take(4)
        return null
      }
      if (value === undefined && parent && isMissing(parent, parentShape!)) untold = true
      else nullFlaw(field)
      return undefined
    }
    const completed = shape.items
      ? completeList(shape.items, value, field)
      : shape.object
        ? completeAny(shape.object, value, field)
        : completeLeaf(shape, value, field)
    if (completed !== null) return completed
    if (untold && shape.nonNull) nullFlaw(field)
    untold = false
    return shape.nonNull ? undefined : null
  }

  function nullFlaw({ coordinate }: FieldShape): void {
    flaw(`Cannot return null for non-nullable field ${coordinate}.`, true)
  }

  /** Whether an object holds nothing but the reference to a missing entity, under whatever alias. */
  function isMissing(object: Data, { all }: ObjectShape): boolean {
    const representation = missing.get(object)
    if (!representation) return false
    const isRepresented = (key: string) =>
      Object.hasOwn(representation, key) || all.some(field => holds(field, key) && Object.hasOwn(representation, field.nodes[0]!.name.value))
    return Object.keys(object).every(key => key === '__typename' || object[key] === null || isRepresented(key))
  }

  function completeList(items: ValueShape, value: unknown, field: FieldShape): unknown {
    if (!Array.isArray(value)) return flaw(`Expected a list for field ${field.coordinate}.`, false)
    takeElements(elements, value.length)
    take(value.length + 2)
    const answer: unknown[] = []
    for (let index = 0; index < value.length; index++) {
      path.push(index)
      const item = complete(items, value[index], field)
      path.pop()
      if (item === undefined) return null
      answer.push(item)
    }
    return answer
  }

  function completeAny(shape: Shape, value: unknown, field: FieldShape): unknown {
    if (!isData(value)) return flaw(`Expected an object for field ${field.coordinate}.`, false)
    const runtime = runtimeShape(shape, value)
    if (!runtime) return flaw(`Field ${field.coordinate} was answered with an object of a type that it cannot have.`, false)
    return completeObject(runtime, value)
  }

  function completeLeaf(shape: ValueShape, value: unknown, field: FieldShape): unknown {
    if (shape.names && !(typeof value === 'string' && shape.names.has(value)))
      return flaw(`Field ${field.coordinate} was answered with an unknown enum value.`, false)
    if (shape.plain && typeof value === 'object') return flaw(`Expected a scalar for field ${field.coordinate}.`, false)
    take(sizeOf(value, measure))
    return value
  }
}

const full = new Error('The answer is full')

const holds = ({ key, otherKeys }: FieldShape, name: string) => key === name || otherKeys.includes(name)

function read(field: FieldShape, data: Data): unknown {
  if (Object.hasOwn(data, field.key)) return data[field.key]
  for (const key of field.otherKeys) if (Object.hasOwn(data, key)) return data[key]
  return undefined
}
