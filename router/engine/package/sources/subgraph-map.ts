import type { GatewayConfig, ServiceEndpointDefinition } from '../config.ts'
import type { GatewayGraphQLResponse, GraphQLDataSource, Logger } from '../types.ts'
import { RemoteGraphQLDataSource } from './remote.ts'

export const HEALTH_CHECK_QUERY = 'query __ApolloServiceHealthCheck__ { __typename }'

export interface DataSourceMap {
  [serviceName: string]: { url?: string; dataSource: GraphQLDataSource }
}

/** The data sources of a gateway. */
export interface SubgraphMap {
  readonly known: DataSourceMap
  /** Makes a data source that is not kept. */
  make(definition: ServiceEndpointDefinition): GraphQLDataSource
  sourceOf(name: string): GraphQLDataSource | undefined
  /** Returns the data source of a subgraph, made at the first call and where its address has changed. */
  use(definition: ServiceEndpointDefinition): GraphQLDataSource
}

export function createSubgraphMap(config: GatewayConfig, logger: Logger): SubgraphMap {
  const known: DataSourceMap = Object.create(null)

  const make = (definition: ServiceEndpointDefinition): GraphQLDataSource => {
    if (!definition.url && !('localServiceList' in config)) logger.error(`Service definition for service ${definition.name} is missing a url`)
    return config.buildService ? config.buildService(definition) : new RemoteGraphQLDataSource(definition.url === undefined ? {} : { url: definition.url })
  }

  return {
    known,
    make,
    sourceOf: name => known[name]?.dataSource,
    use({ name, url }: ServiceEndpointDefinition): GraphQLDataSource {
      const present = known[name]
      if (present && present.url === url) return present.dataSource
      const dataSource = make({ name, ...(url !== undefined && { url }) })
      known[name] = { ...(url !== undefined && { url }), dataSource }
      return dataSource
    },
  }
}

/** Asks each data source for its type name. @throws Error naming the first subgraph that does not answer */
export const checkHealth = (sources: DataSourceMap): Promise<{ name: string; response: GatewayGraphQLResponse }[]> =>
  Promise.all(
    Object.entries(sources).map(async ([name, { dataSource }]) => {
      try {
        return { name, response: await dataSource.process({ kind: 'health check', request: { query: HEALTH_CHECK_QUERY }, context: {} }) }
      } catch (cause) {
        throw new Error(`[${name}]: ${(cause as Error).message}`, { cause })
      }
    }),
  )
