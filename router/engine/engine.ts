import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import type { Viewer } from '../../subgraphs/viewer.ts'

/** One operation of one viewer: what every door (HTTP, WebSocket, REST, asking, tests) hands to the engine. */
export interface OperationRequest {
  /** Parsed and valid against `schema`; the same object for the same text, for compiled plans hang on it. */
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  /** As the client sent them: the engine coerces and refuses (BAD_USER_INPUT). */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly viewer: Viewer
  readonly requestId: string
  /** Aborts the work when the caller leaves. */
  readonly signal?: AbortSignal | undefined
}

/** A stream of results. `return()` settles a pending `next()` and ends the upstream at once. */
export interface ResultStream extends AsyncIterableIterator<ExecutionResult> {
  return(): Promise<IteratorResult<ExecutionResult>>
}

/** Executes operations for viewers over the supergraph. It never throws for what a client sent: errors are in the result. */
export interface Engine {
  /** What clients see: no federation machinery, no inaccessible element. */
  readonly schema: GraphQLSchema
  /** Runs a query or a mutation. */
  execute(request: OperationRequest): Promise<ExecutionResult>
  /** Starts a subscription; a result instead of a stream says why it did not start. */
  subscribe(request: OperationRequest): Promise<ResultStream | ExecutionResult>
}

/** One fetch of a plan, as a transport gets it. */
export interface Fetch {
  /** Name of the subgraph in the supergraph. */
  readonly subgraph: string
  /** Parsed once per plan: the same object for the same fetch, so a transport may keep compiled forms on it. */
  readonly document: DocumentNode
  /** The same as text, for transports that send it. */
  readonly text: string
  readonly kind: 'query' | 'mutation' | 'subscription'
}

/** What a fetch is executed with. */
export interface FetchCall {
  readonly variables: Readonly<Record<string, unknown>>
  readonly viewer: Viewer
  readonly requestId: string
  readonly signal?: AbortSignal | undefined
  /** One object per client operation: a transport keeps what lives that long (the subgraph's context) under it. */
  readonly operation: object
}

/** How fetches reach subgraphs: a call in this process, or HTTP. Results are JSON-safe either way. */
export interface Transport {
  fetch(fetch: Fetch, call: FetchCall): Promise<ExecutionResult>
  subscribe(fetch: Fetch, call: FetchCall): Promise<ResultStream | ExecutionResult>
}
