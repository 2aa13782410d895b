import { buildASTSchema, type ExecutionResult, execute, type GraphQLSchema, isAbstractType, isObjectType, parse, printSchema } from 'graphql'

/** An executable copy of a schema with plain resolvers: the oracle that a federated answer is compared with. */
export function monolithOf(schema: GraphQLSchema, resolvers: Readonly<Record<string, Readonly<Record<string, unknown>>>>): GraphQLSchema {
  const copy = buildASTSchema(parse(printSchema(schema)))
  for (const [name, fields] of Object.entries(resolvers)) {
    const type = copy.getType(name)
    if (isAbstractType(type)) type.resolveType = (value: { __typename: string }) => value.__typename
    if (!isObjectType(type)) continue
    for (const [field, resolve] of Object.entries(fields)) {
      const definition = type.getFields()[field]
      if (definition) definition.resolve = resolve as NonNullable<typeof definition.resolve>
    }
  }
  return copy
}

export const runMonolith = async (schema: GraphQLSchema, source: string, variableValues: Record<string, unknown>): Promise<ExecutionResult> =>
  execute({ schema, document: parse(source), variableValues })
