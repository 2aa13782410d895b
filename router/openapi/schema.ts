import { type GraphQLInputType, type GraphQLLeafType, isEnumType, isInputObjectType, isListType, isNonNullType, isRequiredInputField } from 'graphql'
import type { JsonSchema } from '../rest/row.ts'
import { fromEnum } from '../rest/values.ts'
import { innerName } from '../rest/words.ts'

/** Registers the named schemas of the document. */
export interface Named {
  /**
   * Registers a schema under its name, once. @returns a reference to it; under another name when the first is taken by
   * a different schema
   */
  add(name: string, schema: JsonSchema, otherwise?: string): JsonSchema
  readonly all: Readonly<Record<string, JsonSchema>>
}

export function createNamed(): Named {
  const all: Record<string, JsonSchema> = {}
  return {
    all,
    add(name, schema, otherwise) {
      const free = [name, ...(otherwise ? [otherwise] : [])].find(each => !Object.hasOwn(all, each) || JSON.stringify(all[each]) === JSON.stringify(schema))
      if (!free) throw new Error(`two schemas would be called ${name}: give the operation of one of them another name`)
      all[free] = schema
      return { $ref: `#/components/schemas/${free}` }
    },
  }
}

/** Sorts the members of a type by name, so that the document does not depend on their order in the schema. */
export const byName = <Member extends { readonly name: string }>(members: readonly Member[]): readonly Member[] =>
  members.toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** JSON schemas of our scalars. */
const scalarSchemas: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  BigInt: { type: ['integer', 'string'], description: 'A whole number; beyond 9007199254740991 as text.' },
  DateTime: { type: 'string', format: 'date-time' },
  URL: { type: 'string', format: 'uri' },
  EmailAddress: { type: 'string', format: 'email' },
  CurrencyCode: { type: 'string', pattern: '^[A-Z]{3}$' },
  JSON: {},
}

/** Returns the schema of a scalar, or of an enum with its values as routes write them. */
export function leafSchema(type: GraphQLLeafType, named: Named): JsonSchema {
  if (!isEnumType(type)) return scalarSchemas[type.name] ?? withDescription({}, type.description)
  const values = byName(type.getValues())
  const listed = values.map(({ name, description }) => `- \`${fromEnum(name)}\`${description ? `: ${description}` : ''}`)
  const description = [type.description, listed.join('\n')].filter(Boolean).join('\n\n')
  return named.add(type.name, { type: 'string', enum: values.map(({ name }) => fromEnum(name)), description })
}

/** Returns the schema of an operation's variable as a route accepts it. */
export function inputSchema(type: GraphQLInputType, named: Named): JsonSchema {
  if (isNonNullType(type)) return inputSchema(type.ofType, named)
  if (isListType(type)) return { type: 'array', items: inputOrNull(type.ofType, named) }
  if (!isInputObjectType(type)) return leafSchema(type, named)
  const fields = byName(Object.values(type.getFields()))
  const required = fields.filter(isRequiredInputField).map(({ name }) => innerName(name))
  const properties = Object.fromEntries(fields.map(field => [innerName(field.name), withDescription(inputOrNull(field.type, named), field.description)]))
  return withDescription({ type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }, type.description)
}

/** Returns the schema of a variable, allowing null. */
export const inputOrNull = (type: GraphQLInputType, named: Named): JsonSchema =>
  isNonNullType(type) ? inputSchema(type, named) : orNull(inputSchema(type, named))

/** A schema that takes null as well. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] }
  if (Array.isArray(type)) return type.includes('null') ? schema : { ...schema, type: [...type, 'null'] }
  return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : schema
}

/** Adds the description of a position to a schema; a reference may have a description beside it. */
export const withDescription = (schema: JsonSchema, description: string | null | undefined): JsonSchema =>
  description ? { ...schema, description: description.replaceAll(/\s*\n\s*/g, ' ').trim() } : schema
