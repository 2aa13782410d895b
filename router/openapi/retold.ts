import { type GraphQLSchema, isEnumType } from 'graphql'
import { fromEnum } from '../rest/values.ts'
import { headerNames } from '../rest/words.ts'

/** Names of the graph's standard arguments on every route. */
const names: Readonly<Record<string, string>> = { ...headerNames, endCursor: 'nextCursor' }

/**
 * Translates a document from the graph's terms to those of routes: enum values in lower case, and the routes' own
 * names.
 */
export function retold<Value>(document: Value, schema: GraphQLSchema): Value {
  const values = new Set(Object.values(schema.getTypeMap()).flatMap(type => (isEnumType(type) ? type.getValues().map(({ name }) => name) : [])))
  const inWords = (text: string): string =>
    text
      .replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, word => (values.has(word) ? fromEnum(word) : word))
      .replaceAll(/\b(?:endCursor|expectedVersion|idempotencyKey)\b/g, word => names[word]!)
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return key === 'description' || key === 'summary' ? inWords(value) : value
    if (Array.isArray(value)) return value.map(each => walk(each, ''))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, name)]))
  }
  return walk(document, '') as Value
}
