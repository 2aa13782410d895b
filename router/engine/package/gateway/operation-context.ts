import { type FragmentDefinitionNode, GraphQLError, type GraphQLSchema, Kind } from 'graphql'
import type { GatewayGraphQLRequestContext, OperationContext } from '../types.ts'

/** Returns the operation that a request means, with its fragments. @throws GraphQLError INVALID_GRAPHQL where it means none */
export function operationContextOf(schema: GraphQLSchema, { document, operation, request }: GatewayGraphQLRequestContext): OperationContext {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null)
  let found = operation
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition
    else if (!found && definition.kind === Kind.OPERATION_DEFINITION && (!request.operationName || definition.name?.value === request.operationName))
      found = definition
  }
  if (!request.operationName && operations.length > 1)
    throw new GraphQLError('Must provide operation name if query contains multiple operations.', { extensions: { code: 'INVALID_GRAPHQL' } })
  const missing = request.operationName ? `Unknown operation named "${request.operationName}".` : 'Must provide an operation.'
  if (!found) throw new GraphQLError(missing, { extensions: { code: 'INVALID_GRAPHQL' } })
  return { schema, operation: found, fragments }
}
