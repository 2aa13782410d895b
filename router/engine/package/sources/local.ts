import { type DocumentNode, type GraphQLSchema, graphql, graphqlSync, parse } from 'graphql'
import type { GatewayGraphQLResponse, GraphQLDataSource, GraphQLDataSourceProcessOptions } from '../types.ts'

/** A subgraph that runs in this process. */
// biome-ignore lint/suspicious/noExplicitAny: contexts of users
export class LocalGraphQLDataSource<TContext extends Record<string, any> = Record<string, any>> implements GraphQLDataSource<TContext> {
  readonly schema: GraphQLSchema

  constructor(schema: GraphQLSchema) {
    this.schema = schema
  }

  async process({ request, context }: GraphQLDataSourceProcessOptions<TContext>): Promise<GatewayGraphQLResponse> {
    const { query, variables, operationName } = request
    return (await graphql({
      schema: this.schema,
      source: query!,
      variableValues: variables,
      operationName,
      contextValue: context,
    })) as GatewayGraphQLResponse
  }

  /** Returns the SDL of the subgraph. @throws Error for a schema that is none of a subgraph */
  sdl(): DocumentNode {
    const { data, errors } = graphqlSync({ schema: this.schema, source: '{ _service { sdl } }' })
    if (errors) throw new Error(errors.map(({ message }) => message).join('\n\n'))
    return parse((data as { _service: { sdl: string } })._service.sdl)
  }
}
