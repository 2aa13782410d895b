import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { routesFile } from '../openapi.ts'
import { inFile, type Mistake } from '../source/mistake.ts'

/** The released contract of the REST routes, in the form of `routesFile`. */
export const routesReleasedFile = 'schema/routes.released.json'

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is walked path by path
type Json = any

/**
 * Lists what a client of the released REST document would lose or have to change. Additions pass: routes, optional
 * parameters, fields of answers, enum values in answers.
 * @returns none for a project without REST routes
 */
export async function brokenRoutes(root: string): Promise<readonly Mistake[]> {
  const [released, current] = await Promise.all([routesReleasedFile, routesFile].map(file => readFile(join(root, file), 'utf8').catch(() => null)))
  if (!current) return []
  if (!released)
    return [
      inFile(
        routesReleasedFile,
        'NOTHING_RELEASED',
        'there are no released REST routes to compare with: npm run schema:accept makes the present ones the first',
      ),
    ]
  return breaksOf(JSON.parse(released), JSON.parse(current)).map(text => inFile(routesReleasedFile, 'BREAKING_CHANGE', text))
}

/** Describes what clients of one document lose in another, a sentence each. */
export function breaksOf(released: Json, current: Json): readonly string[] {
  const broken: string[] = []
  for (const [path, methods] of Object.entries<Json>(released.paths))
    for (const [method, before] of Object.entries<Json>(methods)) {
      const at = `${method.toUpperCase()} ${path}`
      const now = current.paths[path]?.[method]
      if (!now) broken.push(`${at} is gone`)
      else broken.push(...routeBreaks(before, now, createComparison(released, current)).map(text => `${at}: ${text}`))
    }
  return broken
}

function routeBreaks(before: Json, now: Json, comparison: ReturnType<typeof createComparison>): readonly string[] {
  const broken: string[] = []
  if (before.operationId !== now.operationId) broken.push(`generated clients call it ${before.operationId}, and now ${now.operationId}`)
  for (const way of before.security)
    if (!now.security.some((other: Json) => opens(way, other)) && now.security.length > 0) broken.push(`who had ${JSON.stringify(way)} is refused`)
  const [had, has] = [before, now].map(({ parameters = [] }: Json) => new Map<string, Json>(parameters.map((each: Json) => [`${each.in} ${each.name}`, each])))
  for (const [name, parameter] of had!) {
    const found = has!.get(name)
    if (!found) broken.push(`the parameter ${name} is refused`)
    else broken.push(...comparison.taken(parameter.schema, found.schema, name))
  }
  for (const [name, parameter] of has!) if (parameter.required && !had!.get(name)?.required) broken.push(`the parameter ${name} must be there`)
  const [took, takes] = [before, now].map(({ requestBody }: Json) => Object.entries<Json>(requestBody?.content ?? {}))
  for (const [type, { schema }] of took!) {
    const found = takes!.find(([each]) => each === type)
    if (found) broken.push(...comparison.taken(schema, found[1].schema, 'the body'))
    else broken.push(`a body of ${type} is refused`)
  }
  if (took!.length === 0 && takes!.length > 0) broken.push('a body must be there')
  for (const [status, answer] of Object.entries<Json>(before.responses).filter(([each]) => /^2/.test(each))) {
    const found = now.responses[status]
    if (!found) broken.push(`it does not answer ${status} any more`)
    for (const [type, { schema }] of Object.entries<Json>(answer.content ?? {})) {
      const content = found?.content?.[type]
      if (content) broken.push(...comparison.answered(schema, content.schema, 'the answer'))
      else if (found) broken.push(`it does not answer ${type} any more`)
    }
  }
  return broken
}

/** Whether a caller with one way of authorization also meets another: the same schemes, and no further scopes. */
const opens = (way: Json, other: Json): boolean => {
  const schemes = Object.keys(other)
  return schemes.every(scheme => scheme in way && other[scheme].every((name: string) => way[scheme].includes(name)))
}

type Compare = (before: Json, now: Json, at: string) => readonly string[]

/** Compares schemas of two documents, each with its own names. */
function createComparison(released: Json, current: Json): { readonly taken: Compare; readonly answered: Compare } {
  const met = new Set<string>()
  /** Compares what is nested in two shapes. A recursive record is compared once. */
  const below = (old: Shape, fresh: Shape, at: string, compare: Compare, gone: string): readonly string[] => {
    const key = `${gone} ${old.name} ${fresh.name}`
    if (old.name && met.has(key)) return []
    met.add(key)
    const broken = Object.entries(old.properties).flatMap(([name, schema]) =>
      name in fresh.properties ? compare(schema, fresh.properties[name], `${at}.${name}`) : [`${at}.${name} ${gone}`],
    )
    return old.items && fresh.items ? [...broken, ...compare(old.items, fresh.items, `${at}[]`)] : broken
  }
  /** Compares what callers send: it must still be accepted. */
  const taken: Compare = (before, now, at) => {
    const [old, fresh] = [shapeOf(before, released), shapeOf(now, current)]
    const broken = [...lost(old, fresh, at, 'is not taken')]
    for (const value of old.values) if (fresh.values.length > 0 && !fresh.values.includes(value)) broken.push(`${at} does not take ${value} any more`)
    for (const name of fresh.required) if (!old.required.includes(name)) broken.push(`${at}.${name} must be there`)
    return [...broken, ...below(old, fresh, at, taken, 'is refused')]
  }
  /** Compares what callers read: it must still be there, without unknown values. */
  const answered: Compare = (before, now, at) => {
    const [old, fresh] = [shapeOf(before, released), shapeOf(now, current)]
    const broken = [...lost(fresh, old, at, 'is answered')]
    for (const name of old.required) if (name in fresh.properties && !fresh.required.includes(name)) broken.push(`${at}.${name} may be missing`)
    return [...broken, ...below(old, fresh, at, answered, 'is not answered any more')]
  }
  return { taken, answered }
}

interface Shape {
  readonly name: string | null
  /** JSON types, `null` among them; empty for any. */
  readonly types: readonly string[]
  readonly values: readonly string[]
  readonly properties: Readonly<Record<string, Json>>
  readonly required: readonly string[]
  readonly items: Json | null
}

/** Resolves a schema's references and merges an alternative of null. */
function shapeOf(schema: Json, document: Json): Shape {
  const alternatives: readonly Json[] = schema.anyOf ?? [schema]
  const whole = alternatives.find(({ type }) => type !== 'null') ?? schema
  const name = /^#\/components\/schemas\/(\w+)$/.exec(whole.$ref ?? '')?.[1] ?? null
  const { type = [], enum: values = [], properties = {}, required = [], items = null } = name ? document.components.schemas[name] : whole
  const types = [type].flat()
  const nullable = alternatives.length > 1 || types.includes('null')
  return { name, types: types.length > 0 && nullable ? [...new Set([...types, 'null'])] : types, values, properties, required, items }
}

/** Reports the types of one shape that another lacks. */
function* lost(from: Shape, to: Shape, at: string, what: string): Generator<string> {
  if (to.types.length === 0) return
  if (from.types.length === 0) yield `${at} ${what} as anything`
  for (const type of from.types) if (!to.types.includes(type) && !(type === 'integer' && to.types.includes('number'))) yield `${at} ${what} as ${type}`
}
