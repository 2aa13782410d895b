import { sizeOf } from '../data/bytes.ts'
import { generate, literal, warming } from '../data/code.ts'
import { type Elements, mostElements, TooManyElements } from '../data/elements.ts'
import { type Data, isData } from '../data/merge.ts'
import { type Missing, type Projection, project } from './project.ts'
import { type FieldShape, type ObjectShape, runtimeShape, type Shape, type ValueShape } from './shape.ts'

/** Turns merged data into an answer of one shape; equivalent to `project`. */
export type Projector = (data: Data, introspection: Readonly<Data>, missing: Missing) => Projection

/** Remaining limits of one answer. */
interface Budget extends Elements {
  bytes: number
}

/** Builds the answer of one object, or returns undefined when the data has any flaw. */
type Writer = (data: Data, introspection: Readonly<Data>, budget: Budget) => Data | undefined

/** Number of fields above which generating code costs more than interpreting the shape. */
const mostFields = 5000

/**
 * Creates a projector. Once an operation is repeated, its code is generated: one object literal for each selection.
 * Generated code handles flawless data only; otherwise the interpreting projector runs, which reports flaws, propagates
 * nulls, and measures answers that may be too large.
 * @param mostBytes maximum size of an answer as JSON
 */
export function createProjector(shape: Shape, mostBytes: number): Projector {
  const interpreted: Projector = (data, introspection, missing) => project(shape, data, introspection, missing, mostBytes)
  const form = warming(interpreted, () => {
    const write = createWriter(shape.common)
    return (
      write &&
      ((data, introspection, missing) => {
        const answer = write(data, introspection, { left: mostElements, bytes: mostBytes })
        return answer === undefined ? interpreted(data, introspection, missing) : { data: answer, flaws: noFlaws }
      })
    )
  })
  return (data, introspection, missing) => form()(data, introspection, missing)
}

const noFlaws: Projection['flaws'] = []

/** Returns the writer of a selection and of all selections below it; undefined when there are too many. */
function createWriter(root: ObjectShape): Writer | undefined {
  const functions: string[] = []
  const names: Record<string, unknown> = { isArray: Array.isArray, TooManyElements, sizeOf }
  let fields = 0
  let count = 0
  const name = (prefix: string) => `${prefix}${count++}`
  const rootName = objectWriter(root)
  return fields > mostFields ? undefined : generate<Writer>(`${functions.join('\n')}\nreturn ${rootName}`, names)

  /** Writes a function for the objects of one type; returns its name. */
  function objectWriter(shape: ObjectShape): string {
    const self = name('object')
    fields += shape.fields.length
    if (fields > mostFields) return self
    const lines: string[] = []
    let bytes = shape.bytes
    const entries: string[] = []
    shape.fields.forEach((field, index) => {
      const value = `v${index}`
      lines.push(...fieldLines(field, shape, value))
      bytes += fixedBytes(field, shape)
      if (isText(field)) lines.push(...textLines(value))
      // As a plain key, __proto__ would set the object's prototype.
      entries.push(`${field.responseKey === '__proto__' ? '["__proto__"]' : literal(field.responseKey)}: ${value}`)
    })
    functions.push(
      `function ${self}(data, introspection, budget) {\nlet bytes = ${bytes}\n${lines.join('\n')}\nif ((budget.bytes -= bytes) < 0) return undefined\nreturn { ${entries.join(', ')} }\n}`,
    )
    return self
  }

  function fieldLines(field: FieldShape, parent: ObjectShape, value: string): string[] {
    switch (field.from) {
      case 'data': {
        // No key of the data is a name of Object.prototype (names.ts), so what is found is the data's own.
        const found = [field.key, ...field.otherKeys].map(key => `data[${literal(key)}]`)
        const read = found.reduceRight((rest, first) => `(${first} !== undefined ? ${first} : ${rest})`)
        return [`let ${value} = ${read}`, ...valueLines(field.value, value)]
      }
      case 'typename':
        return [
          `const ${value} = ${parent.typename === null ? 'undefined' : literal(parent.typename)}`,
          ...(parent.typename === null ? ['return undefined'] : []),
        ]
      case 'introspection':
        return [`const ${value} = introspection[${literal(field.responseKey)}] ?? null`]
      case 'refused':
        return field.value.nonNull ? ['return undefined', `const ${value} = null`] : [`const ${value} = null`]
    }
  }

  /** Completes the value of a variable in place, or leaves the function. */
  function valueLines(shape: ValueShape, value: string): string[] {
    const absent = shape.nonNull ? 'return undefined' : `${value} = null`
    return [`if (${value} === undefined || ${value} === null) ${absent}`, ...(presentLine(shape, value) ?? [])]
  }

  function presentLine(shape: ValueShape, value: string): string[] | undefined {
    if (shape.items) return [`else if ((${value} = ${listWriter(shape.items)}(${value}, introspection, budget)) === undefined) return undefined`]
    if (shape.object) return [`else if ((${value} = ${anyWriter(shape.object)}(${value}, introspection, budget)) === undefined) return undefined`]
    if (shape.names) {
      const known = name('names')
      names[known] = shape.names
      return [`else if (!${known}.has(${value})) return undefined`]
    }
    return shape.plain ? [`else if (typeof ${value} === 'object') return undefined`] : undefined
  }

  function listWriter(items: ValueShape): string {
    const self = name('list')
    const isLeaf = !items.items && !items.object
    const body = [...valueLines(items, 'item'), ...(isLeaf && items.bytes === null ? textLines('item') : [])].join('\n')
    functions.push(`function ${self}(list, introspection, budget) {
if (!isArray(list)) return undefined
if ((budget.left -= list.length) < 0) throw new TooManyElements()
let bytes = 2 + list.length * ${1 + (isLeaf ? Math.max(items.bytes ?? 0, 4) : 0)}
const answer = []
for (let index = 0; index < list.length; index++) {
let item = list[index]
${body}
answer.push(item)
}
if ((budget.bytes -= bytes) < 0) return undefined
return answer
}`)
    return self
  }

  function anyWriter(shape: Shape): string {
    if (shape.common.typename !== null) {
      const write = objectWriter(shape.common)
      const self = name('checked')
      functions.push(`function ${self}(value, introspection, budget) {
return typeof value === 'object' && !isArray(value) ? ${write}(value, introspection, budget) : undefined
}`)
      return self
    }
    // The types of objects are known only when they arrive.
    const self = name('abstract')
    const writers = new Map<ObjectShape, Writer | undefined>()
    names[self] = (value: unknown, introspection: Readonly<Data>, budget: Budget) => {
      const runtime = isData(value) ? runtimeShape(shape, value) : undefined
      if (!runtime) return undefined
      if (!writers.has(runtime)) writers.set(runtime, createWriter(runtime))
      return writers.get(runtime)?.(value as Data, introspection, budget)
    }
    return self
  }
}

/**
 * Bytes of a field's value that are known in advance: numbers, type names, and null, which any nullable value may be.
 */
function fixedBytes({ from, value }: FieldShape, parent: ObjectShape): number {
  if (from === 'typename') return (parent.typename?.length ?? 0) + 2
  return from === 'data' ? Math.max(value.bytes ?? 0, 4) : 4
}

const isText = ({ from, value }: FieldShape): boolean => from === 'introspection' || (from === 'data' && !value.items && !value.object && value.bytes === null)

/** Counts the upper bound of a value's bytes; values that may be too large are left to the interpreting projector. */
const textLines = (value: string): string[] => [
  `if (typeof ${value} === 'string') bytes += ${value}.length * 6 + 2`,
  `else if (${value} !== null) bytes += sizeOf(${value})`,
]
