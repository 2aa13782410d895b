import type { QueryPlan } from '@apollo/query-planner'
import type {
  DocumentNode,
  ExecutionResult,
  FragmentDefinitionNode,
  GraphQLError,
  GraphQLFormattedError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'

/** Where messages go. `console`, loglevel, winston and pino's plain form have these methods. */
export interface Logger {
  // biome-ignore-start lint/suspicious/noExplicitAny: loggers of users take anything
  debug(message?: any): void
  info(message?: any): void
  warn(message?: any): void
  error(message?: any): void
  // biome-ignore-end lint/suspicious/noExplicitAny: as above
}

/** Headers of requests and responses, as `Headers` of the platform and of node-fetch have them. */
export interface FetcherHeaders extends Iterable<[string, string]> {
  append(name: string, value: string): void
  delete(name: string): void
  get(name: string): string | null
  has(name: string): boolean
  set(name: string, value: string): void
  entries(): Iterator<[string, string]>
  keys(): Iterator<string>
  values(): Iterator<string>
  [Symbol.iterator](): Iterator<[string, string]>
}

export interface FetcherRequestInit {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  redirect?: 'follow' | 'error' | 'manual'
  // biome-ignore lint/suspicious/noExplicitAny: fetchers of users have signals of their own
  signal?: any
}

export interface FetcherResponse {
  readonly bodyUsed: boolean
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly ok: boolean
  readonly statusText: string
  readonly headers: FetcherHeaders
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever a subgraph sent
  json(): Promise<any>
  clone(): FetcherResponse
}

/** A function such as `fetch` of the platform or of node-fetch. */
export type Fetcher = (url: string, init?: FetcherRequestInit) => Promise<FetcherResponse>

/** The request that hooks of a data source see, in the form of node-fetch's `Request`. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: FetcherHeaders
}

export interface GatewayHTTPRequest {
  readonly method: string
  readonly url: string
  readonly headers: FetcherHeaders
}

export interface GatewayHTTPResponse {
  readonly headers: FetcherHeaders
  status?: number
}

// biome-ignore-start lint/suspicious/noExplicitAny: data of users' own schemas and contexts
export interface GatewayGraphQLRequest {
  query?: string
  operationName?: string
  variables?: Record<string, any>
  extensions?: Record<string, any>
  http?: GatewayHTTPRequest
}

export interface GatewayGraphQLResponse {
  data?: Record<string, any> | null
  errors?: readonly GraphQLFormattedError[]
  extensions?: Record<string, any>
  http?: GatewayHTTPResponse
}

export interface GatewayCacheHint {
  maxAge?: number
  scope?: any
}

/** What the gateway reads of the context in which Apollo Server runs an operation. */
export interface GatewayGraphQLRequestContext<TContext = Record<string, any>> {
  readonly request: GatewayGraphQLRequest
  readonly response?: GatewayGraphQLResponse
  logger: Logger
  readonly schema: GraphQLSchema
  readonly context: TContext
  readonly queryHash: string
  readonly document: DocumentNode
  readonly source: string
  readonly operationName: string | null
  readonly operation: OperationDefinitionNode
  readonly errors?: readonly GraphQLError[]
  readonly metrics: any
  debug?: boolean
  readonly overallCachePolicy: any
  readonly requestIsBatched?: boolean
}

export type GatewayExecutionResult = ExecutionResult<Record<string, any>, Record<string, any>>
export type GatewayExecutor = (requestContext: GatewayGraphQLRequestContext) => Promise<GatewayExecutionResult>
export type GatewayUnsubscriber = () => void

/** Why a data source is asked. */
export const GraphQLDataSourceRequestKind = {
  INCOMING_OPERATION: 'incoming operation',
  HEALTH_CHECK: 'health check',
  LOADING_SCHEMA: 'loading schema',
} as const
export type GraphQLDataSourceRequestKind = (typeof GraphQLDataSourceRequestKind)[keyof typeof GraphQLDataSourceRequestKind]

export type GraphQLDataSourceProcessOptions<TContext extends Record<string, any> = Record<string, any>> = {
  /** The request to send to the subgraph. */
  request: GatewayGraphQLRequestContext<TContext>['request']
} & (
  | {
      kind: 'incoming operation'
      /** The operation that the gateway received. */
      incomingRequestContext: GatewayGraphQLRequestContext<TContext>
      /** The same as `incomingRequestContext.context`. */
      context: GatewayGraphQLRequestContext<TContext>['context']
      /** The request's query, parsed. */
      document?: DocumentNode | undefined
      /** Where the answer goes in the data of the operation, `@` for each element of a list; empty for root fields. */
      pathInIncomingRequest?: (string | number)[] | undefined
    }
  | {
      kind: 'health check' | 'loading schema'
      context: Record<string, any>
    }
)

/** Reaches one subgraph. */
export interface GraphQLDataSource<TContext extends Record<string, any> = Record<string, any>> {
  process(options: GraphQLDataSourceProcessOptions<TContext>): Promise<GatewayGraphQLResponse>
}
// biome-ignore-end lint/suspicious/noExplicitAny: as above

/** Data sources by the names of their subgraphs. */
export interface ServiceMap {
  [serviceName: string]: GraphQLDataSource
}

/** The operation that a plan answers. */
export interface OperationContext {
  schema: GraphQLSchema
  operation: OperationDefinitionNode
  fragments: Record<string, FragmentDefinitionNode>
}

export interface OpenTelemetryConfig {
  /** Whether spans `gateway.request` have the text of the operation in `graphql.document`. @default false */
  includeDocument?: boolean
  /** Whether errors are recorded as events of spans; a number: so many for each span. @default false */
  recordExceptions?: boolean | number
}

export interface QueryPlanCache {
  get(key: string): QueryPlan | undefined | Promise<QueryPlan | undefined>
  set(key: string, plan: QueryPlan): unknown
  clear(): unknown
}
