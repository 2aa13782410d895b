export type { ServiceDefinition } from '@apollo/federation-internals'
export type {
  CompositionInfo,
  Experimental_DidFailCompositionCallback,
  Experimental_DidResolveQueryPlanCallback,
  Experimental_DidUpdateSupergraphCallback,
  GatewayConfig,
  GetDataSourceFunction,
  ServiceEndpointDefinition,
  SubgraphHealthCheckFunction,
  SupergraphManager,
  SupergraphSdlHook,
  SupergraphSdlHookOptions,
  SupergraphSdlUpdateFunction,
} from './config.ts'
export { ApolloGateway } from './gateway/gateway.ts'
export { buildOperationContext, executeQueryPlan } from './gateway/unsupported.ts'
export { IntrospectAndCompose, type IntrospectAndComposeOptions, SERVICE_DEFINITION_QUERY } from './managers/introspect-and-compose.ts'
export { LocalCompose, type LocalComposeOptions } from './managers/local-compose.ts'
export {
  type FailureToFetchSupergraphSdlAfterInit,
  type FailureToFetchSupergraphSdlDuringInit,
  type FailureToFetchSupergraphSdlFunctionParams,
  UplinkFetcherError,
  UplinkSupergraphManager,
  type UplinkSupergraphManagerOptions,
} from './managers/uplink.ts'
export { LocalGraphQLDataSource } from './sources/local.ts'
export { RemoteGraphQLDataSource } from './sources/remote.ts'
export { HEALTH_CHECK_QUERY } from './sources/subgraph-map.ts'
export { createEngine, type EngineConfig, type EngineRequest, type GatewayEngine, type IncrementalPayload } from './standalone/create-engine.ts'
export {
  type Fetcher,
  type FetcherHeaders,
  type FetcherRequestInit,
  type FetcherResponse,
  type GatewayGraphQLRequest,
  type GatewayGraphQLRequestContext,
  type GatewayGraphQLResponse,
  type GraphQLDataSource,
  type GraphQLDataSourceProcessOptions,
  GraphQLDataSourceRequestKind,
  type Logger,
  type OpenTelemetryConfig,
  type OperationContext,
  type ServiceMap,
} from './types.ts'
