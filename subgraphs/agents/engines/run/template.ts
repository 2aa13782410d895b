import type { Condition, Json } from '../../stores/workflow.ts'

/** What templates can name: `input`, and `steps.<key>.output`. */
export interface Scope {
  readonly input: Json
  readonly outputs: ReadonlyMap<string, Json>
  /** What the arguments of a MAP name besides: the item and its place. */
  readonly item?: Readonly<Record<string, Json>>
}

/** A path leads nowhere: the step fails with TEMPLATE_MISSING. */
export class MissingPath extends Error {
  readonly path: string
  constructor(path: string) {
    super(`{{${path}}} leads to nothing`)
    this.name = 'MissingPath'
    this.path = path
  }
}

const one = /\{\{\s*([^{}]*?)\s*\}\}/g
const whole = /^\{\{\s*([^{}]*?)\s*\}\}$/

/** Returns every path that the texts of a value name. */
export function pathsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(one)].map(([, path]) => path!)
  if (Array.isArray(value)) return value.flatMap(pathsOf)
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(pathsOf) : []
}

/** The keys of the steps whose outputs a value names. */
export const stepsNamedBy = (value: Json): readonly string[] =>
  pathsOf(value).flatMap(path => {
    const [root, key] = path.split('.')
    return root === 'steps' && key !== undefined ? [key] : []
  })

/**
 * Whether a path can lead anywhere at all: `input`, `input.a`, `steps.key.output`, `steps.key.output.a`.
 * @param names further ones that paths may begin with
 */
export const isPath = (path: string, names: readonly string[] = []): boolean =>
  /^(?:input|steps\.[a-z][a-z0-9_]*\.output)(?:\.[^.\s]+)*$/.test(path) || (/^[^.\s]+(?:\.[^.\s]+)*$/.test(path) && names.includes(path.split('.')[0]!))

/** @returns what is at the path; undefined where it leads to nothing */
function lookUp(path: string, { input, outputs, item = {} }: Scope): Json | undefined {
  if (!isPath(path, Object.keys(item))) return undefined
  const parts = path.split('.')
  const [name, ...below] = parts as [string, ...string[]]
  const [root, rest] = name === 'input' ? [input, below] : name === 'steps' ? [outputs.get(parts[1]!), parts.slice(3)] : [item[name], below]
  let at: Json | undefined = root
  for (const part of rest) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, part)) return undefined
    at = (at as Readonly<Record<string, Json>>)[part]
  }
  return at
}

/**
 * Fills the templates in every text of a value. One that is a whole text keeps the JSON type of what it names; others are written into
 * the text, values other than text as JSON.
 * @throws MissingPath
 */
export function fill(value: Json, scope: Scope): Json {
  if (typeof value === 'string') return fillText(value, scope)
  if (Array.isArray(value)) return value.map(each => fill(each, scope))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, scope)]))
}

function fillText(text: string, scope: Scope): Json {
  const only = whole.exec(text)
  if (only) return found(only[1]!, scope)
  return text.replace(one, (_, path: string) => {
    const value = found(path, scope)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function found(path: string, scope: Scope): Json {
  const value = lookUp(path, scope)
  if (value === undefined) throw new MissingPath(path)
  return value
}

/**
 * Whether a condition holds. EXISTS is false for a path that leads nowhere, and for null. GREATER and LESS compare numbers, and texts by
 * code units; of different types neither holds. CONTAINS looks in a text, a list or the names of an object.
 * @throws MissingPath for every other operator
 */
export function holds({ left, operator, right }: Condition, scope: Scope): boolean {
  if (operator === 'EXISTS') {
    try {
      return fill(left, scope) !== null
    } catch (error) {
      if (error instanceof MissingPath) return false
      throw error
    }
  }
  const [a, b] = [fill(left, scope), fill(right, scope)]
  if (operator === 'EQUALS' || operator === 'NOT_EQUALS') return isSame(a, b) === (operator === 'EQUALS')
  if (operator === 'CONTAINS') return contains(a, b)
  const comparable = (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')
  return comparable && (operator === 'GREATER' ? a > b : a < b)
}

function contains(a: Json, b: Json): boolean {
  if (typeof a === 'string') return typeof b === 'string' && a.includes(b)
  if (Array.isArray(a)) return a.some(each => isSame(each, b))
  return a !== null && typeof a === 'object' && typeof b === 'string' && Object.hasOwn(a, b)
}

function isSame(a: Json, b: Json): boolean {
  if (a === b) return true
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false
  const [of, from] = [Object.entries(a), b as Readonly<Record<string, Json>>]
  return of.length === Object.keys(b).length && of.every(([name, each]) => Object.hasOwn(from, name) && isSame(each as Json, from[name]!))
}
