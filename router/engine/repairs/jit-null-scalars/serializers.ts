import { type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql'

type Serializers = Record<string, (value: unknown) => unknown>

const serializersOf = new WeakMap<GraphQLSchema, Serializers>()

/**
 * Creates serializers for a schema's own scalars. Values are made JSON-safe at once, so that no answer needs a second
 * pass; null becomes undefined, which graphql-jit treats as the error that null is to graphql-js.
 * @param safe converts a value to its form after a JSON round trip
 */
export function createSerializers(schema: GraphQLSchema, safe: (value: unknown) => unknown): Serializers {
  const known = serializersOf.get(schema)
  if (known) return known
  const serializers: Serializers = {}
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || isSpecifiedScalarType(type)) continue
    serializers[type.name] = value => {
      const serialized = type.serialize(value)
      return serialized === null || serialized === undefined ? undefined : safe(serialized)
    }
  }
  serializersOf.set(schema, serializers)
  return serializers
}
