import type { ServiceDefinition } from '@apollo/federation-internals'
import type { QueryPlan } from '@apollo/query-planner'
import type { GraphQLError, GraphQLSchema } from 'graphql'
import type {
  Fetcher,
  GatewayGraphQLRequestContext,
  GraphQLDataSource,
  Logger,
  OpenTelemetryConfig,
  OperationContext,
  QueryPlanCache,
  ServiceMap,
} from './types.ts'

/** Name and address of a subgraph. */
export interface ServiceEndpointDefinition {
  name: string
  url?: string
}

export type Experimental_DidResolveQueryPlanCallback = (resolved: {
  readonly queryPlan: QueryPlan
  readonly serviceMap: ServiceMap
  readonly operationContext: OperationContext
  readonly requestContext: GatewayGraphQLRequestContext
}) => void

export interface SupergraphSdlCompositionInfo {
  schema: GraphQLSchema
  compositionId: string
  supergraphSdl: string
}

export type CompositionInfo = SupergraphSdlCompositionInfo

export type Experimental_DidFailCompositionCallback = (failed: { readonly errors: GraphQLError[]; readonly serviceList: ServiceDefinition[] }) => void

export type Experimental_DidUpdateSupergraphCallback = (currentConfig: CompositionInfo, previousConfig?: CompositionInfo) => void

/** Takes another supergraph into use. @throws Error for a text that is none; then the former one stays in use */
export type SupergraphSdlUpdateFunction = (updatedSupergraphSdl: string) => void

/** Asks every subgraph of a supergraph. @throws Error naming the one that does not answer */
export type SubgraphHealthCheckFunction = (supergraphSdl: string) => Promise<void>

export type GetDataSourceFunction = (definition: ServiceEndpointDefinition) => GraphQLDataSource

export interface SupergraphSdlHookOptions {
  update: SupergraphSdlUpdateFunction
  healthCheck: SubgraphHealthCheckFunction
  getDataSource: GetDataSourceFunction
}

export type SupergraphSdlHook = (options: SupergraphSdlHookOptions) => Promise<{ supergraphSdl: string; cleanup?: (() => Promise<void>) | undefined }>

export interface SupergraphManager {
  initialize: SupergraphSdlHook
}

export type IntrospectionHeaders = ConstructorParameters<typeof Headers>[0]

export interface GatewayConfig {
  /** The supergraph as text, a function that brings it and its updates, or an object with such a function. @default GraphOS, by APOLLO_KEY */
  supergraphSdl?: string | SupergraphSdlHook | SupergraphManager
  /** @deprecated use `supergraphSdl: new IntrospectAndCompose(...)` */
  serviceList?: ServiceEndpointDefinition[]
  /** @deprecated use `supergraphSdl: new IntrospectAndCompose(...)` */
  introspectionHeaders?: IntrospectionHeaders | ((service: ServiceEndpointDefinition) => Promise<IntrospectionHeaders> | IntrospectionHeaders)
  /** @deprecated use `supergraphSdl: new LocalCompose(...)` */
  localServiceList?: ServiceDefinition[]
  pollIntervalInMs?: number
  debug?: boolean
  logger?: Logger
  /** Whether requests with the header `Apollo-Query-Plan-Experimental` are answered with their plan. @default unless NODE_ENV is production */
  __exposeQueryPlanExperimental?: boolean
  /** Makes the data source of a subgraph. @default `RemoteGraphQLDataSource` */
  buildService?: (definition: ServiceEndpointDefinition) => GraphQLDataSource
  experimental_didResolveQueryPlan?: Experimental_DidResolveQueryPlanCallback
  experimental_didUpdateSupergraph?: Experimental_DidUpdateSupergraphCallback
  /** Approximate MiB of all plans that stay ready. @default 30 */
  experimental_approximateQueryPlanStoreMiB?: number
  /** Without effect. */
  experimental_autoFragmentization?: boolean
  /** Asks GraphOS, instead of `fetch`. */
  fetcher?: Fetcher
  /** Whether a supergraph of a list or of GraphOS is taken into use only when all its subgraphs answer. @default false */
  serviceHealthCheck?: boolean
  /** Only `cache` has an effect: it is given each plan, in the form of `@apollo/query-planner`. */
  queryPlannerConfig?: { cache?: QueryPlanCache; [option: string]: unknown }
  telemetry?: OpenTelemetryConfig
  /** Whether supergraphs are validated completely before they are used. @default unless NODE_ENV is production */
  validateSupergraph?: boolean
  /** @deprecated use `uplinkEndpoints` */
  schemaConfigDeliveryEndpoint?: string
  /** Addresses of GraphOS, asked in turn. @default those of its documentation */
  uplinkEndpoints?: string[]
  uplinkMaxRetries?: number
  /** The least ms between two questions to GraphOS. @default what it says */
  fallbackPollIntervalInMs?: number
}

/** Where a gateway's supergraph comes from. */
export type SourceKind = 'text' | 'manager' | 'local' | 'list' | 'managed'

/** @param isUplinkManager whether a manager is the one of GraphOS */
export function sourceKindOf(config: GatewayConfig): SourceKind {
  const { supergraphSdl } = config
  if (typeof supergraphSdl === 'string') return 'text'
  if (typeof supergraphSdl === 'function' || (typeof supergraphSdl === 'object' && supergraphSdl !== null && 'initialize' in supergraphSdl)) return 'manager'
  if ('localServiceList' in config) return 'local'
  return 'serviceList' in config ? 'list' : 'managed'
}

const refusedOptions = ['experimental_updateServiceDefinitions', 'experimental_updateSupergraphSdl', 'Experimental_UpdateComposition']

/** @throws Error for options that are not supported */
export function refuseUnsupported(config: GatewayConfig): void {
  const refused = refusedOptions.find(name => name in config)
  if (refused) throw new Error(`\`${refused}\` is not supported: give \`supergraphSdl\` as a function, which gets \`update\` and returns the first supergraph.`)
  if (config.queryPlannerConfig?.typeConditionedFetching) throw new Error('Type conditions are not supported in the gateway')
}
