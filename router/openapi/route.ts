import type { GraphQLObjectType } from 'graphql'
import type { DerivedRow } from '../rest/derive/derive.ts'
import { flattened, type Part, type Shape } from '../rest/derive/selected.ts'
import type { Taken } from '../rest/derive/takes.ts'
import type { JsonSchema } from '../rest/row.ts'
import { byName, inputOrNull, inputSchema, leafSchema, type Named, orNull, withDescription } from './schema.ts'

/** A value in a request, as the document describes it. */
export interface Brought {
  readonly schema: JsonSchema
  readonly required: boolean
}

/** Describes values of a path, query string or body by the types of their variables. */
export const describeTaken = (taken: ReadonlyMap<string, Taken>, named: Named, where: 'text' | 'body'): ReadonlyMap<string, Brought> =>
  new Map(
    byName([...taken].map(([name, value]) => ({ ...value, name }))).map(({ name, type, description, byDefault, required }) => {
      // Values in a path or query string are never null.
      const made = where === 'body' ? inputOrNull(type, named) : inputSchema(type, named)
      return [name, { schema: withDescription(byDefault === undefined ? made : { ...made, default: byDefault }, description), required }]
    }),
  )

/** Describes the body of a route's answer, named after its record or the route; null where there is none. */
export function describeAnswer({ name, answers }: DerivedRow, named: Named): JsonSchema | null {
  if (!answers.body) return null
  const operation = typeNameOf({ name })
  const parts = flattened(answers.body)
  const schema = objectSchema(parts, { named, operation })
  const whole = answers.counted ? withCount(schema) : schema
  const record = answers.record && parts.some(({ shape }) => shape.kind === 'leaf') ? answers.record : null
  return nameIt(record, whole, { named, operation }, operation)
}

/** A list in the form of a page. */
function withCount(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema as { readonly properties: JsonSchema; readonly required: readonly string[] }
  return {
    ...schema,
    properties: { ...properties, nextCursor: { type: 'null' }, totalCount: { type: 'integer' } },
    required: [...required, 'nextCursor', 'totalCount'],
  }
}

/** Returns the name for schemas that only one route uses. */
export const typeNameOf = ({ name }: Pick<DerivedRow, 'name'>): string => `${name[0]!.toUpperCase()}${name.slice(1)}`

interface Describing {
  readonly named: Named
  /** The name of the route's operation, for schemas without a name of their own. */
  readonly operation: string
}

function objectSchema(parts: readonly Part[], describing: Describing): JsonSchema {
  const properties = Object.fromEntries(parts.map(part => [part.name, partSchema(part, describing)]))
  return { type: 'object', properties, ...(parts.length > 0 && { required: parts.map(({ name }) => name) }) }
}

function partSchema({ shape, description }: Part, describing: Describing): JsonSchema {
  const schema = shapeSchema(shape, description, describing)
  return schema.description || '$ref' in schema ? schema : withDescription(schema, description)
}

/** @param description the graph's description of the field */
function shapeSchema(shape: Shape, description: string | null, describing: Describing): JsonSchema {
  switch (shape.kind) {
    case 'leaf':
      return nullable(shape, withDescription(leafSchema(shape.type, describing.named), description))
    case 'reference':
      return nullable(shape, shapeSchema(shape.id.shape, shape.id.description, describing))
    case 'list': {
      const items = shapeSchema(shape.of, shape.of.kind === 'leaf' ? description : null, describing)
      return nullable(shape, { type: 'array', items: shape.of.kind === 'object' ? nameIt(shape.of.type, items, describing) : items })
    }
    case 'page':
      return nullable(shape, objectSchema(flattened([{ name: 'nodes', description, shape, spread: true, required: false }]), describing))
    case 'object':
      return nullable(shape, objectSchema(flattened(shape.parts), describing))
  }
}

const nullable = ({ nullable: mayBeNull }: { readonly nullable: boolean }, schema: JsonSchema): JsonSchema => (mayBeNull ? orNull(schema) : schema)

/** Names the schema of a record: after its type, or after the operation where several parts make it up. */
function nameIt(
  type: Pick<GraphQLObjectType, 'name' | 'description'> | null,
  schema: JsonSchema,
  { named, operation }: Describing,
  otherwise?: string,
): JsonSchema {
  const name = type?.name ?? otherwise
  return name ? named.add(name, withDescription(schema, type?.description), `${operation}${type?.name ?? 'Answer'}`) : schema
}
