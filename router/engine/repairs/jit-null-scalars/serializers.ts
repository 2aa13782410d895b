import { type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql'

type Serializers = Record<string, (value: unknown) => unknown>

const serializersOf = new WeakMap<GraphQLSchema, Serializers>()

/**
 * Serializers for a schema's own scalars. What they answer is made safe as it comes, so that no answer has to be gone through
 * again; null becomes undefined, which graphql-jit takes for the error that null is to graphql-js.
 * @param safe makes a value what it would be after a trip through JSON
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
