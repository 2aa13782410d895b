import type { DocumentNode, ExecutionResult, GraphQLFormattedError, GraphQLSchema } from 'graphql'
import type { Browser } from '../../subgraphs/browser.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Work } from './transport/work.ts'

/** One operation of one viewer: what every door (HTTP, WebSocket, REST, asking, tests) hands to the engine. */
export interface OperationRequest {
  /** Parsed and valid against `schema`; the same object for the same text, for compiled plans hang on it. */
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  /** As the client sent them: the engine coerces and refuses (BAD_USER_INPUT). */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly viewer: Viewer
  readonly requestId: string
  /** As the client sent them, for transports that let some of them pass to subgraphs. */
  readonly headers?: Headers | undefined
  /** The browser that asks, where one is known. */
  readonly browser?: Browser | undefined
  /** Aborts the work when the caller leaves. */
  readonly signal?: AbortSignal | undefined
  /** Works out an event of a subscription when it may: the work of many streams at one event is done a few at a time. @default at once */
  readonly inTurn?: InTurn | undefined
}

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

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
  /**
   * Plans operations before anybody asks them, one after the other, so that the first who asks waits for no plan. One that
   * cannot be planned is passed over: whoever asks it is told.
   * @param operations documents with a single operation each; the very objects that will be asked
   * @param viewer     with whose rights they are planned: others may need a plan of their own
   */
  warm(operations: readonly DocumentNode[], viewer: Viewer): Promise<void>
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
  readonly headers?: Headers | undefined
  /** The browser that asks, where one is known. */
  readonly browser?: Browser | undefined
  readonly signal?: AbortSignal | undefined
  /** When the operation's time is up, by the engine's clock (`EngineOptions.now`), in milliseconds. */
  readonly deadline?: number | undefined
  /** One for each client operation, and for each event: a transport counts there what it takes, and keeps what lives that long under it. */
  readonly operation: Work
}

/** What a subscription is started with. Its deadline is that of the start; each event has a time of its own. */
export interface StreamCall extends FetchCall {
  /** Milliseconds that working out one event may take, from when it has come. @default as long as it takes */
  readonly eventMs?: number | undefined
  /** As `OperationRequest.inTurn`, for what the transport does itself at an event. */
  readonly inTurn?: InTurn | undefined
}

/**
 * How fetches reach subgraphs: a call in this process, or HTTP. Results are JSON-safe either way, and belong to whoever asked:
 * the engine builds its data out of their objects, so no two calls may be answered with the same one.
 */
export interface Transport {
  fetch(fetch: Fetch, call: FetchCall): Promise<ExecutionResult>
  /** An event that cannot be worked out is an error result of the stream, and not its end. */
  subscribe(fetch: Fetch, call: StreamCall): Promise<ResultStream | ExecutionResult>
}

/** What a viewer may have of one operation. */
export interface AccessDecision {
  /**
   * Short and equal for equal decisions: it goes into every cache key. Two viewers for whom the same fields of this document
   * remain have the same verdict; differing remains never share one.
   */
  readonly verdict: string
  /**
   * The document without what this viewer may not have; the very same object when nothing is refused; null when nothing of
   * the operation remains. Fields are only ever removed, never renamed or added (`__typename` excepted), because the answer
   * is shaped by the original document and every field missing here becomes null there. A field that lost its whole
   * selection stays, with `__typename` or with an empty selection set, so that its own null or length is still told.
   */
  readonly document: DocumentNode | null
  /**
   * One for each refused place, code `UNAUTHORIZED_FIELD_OR_TYPE`, with a sentence that says which scopes would do. The path
   * consists of the client's response keys, without list indexes.
   */
  readonly errors: readonly GraphQLFormattedError[]
  /** The operation must not run at all (a mutation with any refused field): `data` is null and only `errors` are told. */
  readonly refusedWhole: boolean
}

/** Takes out of an operation what its viewer may not have, before anything is planned. */
export interface AccessFilter {
  /**
   * Decides without variables and without waiting. The engine asks for every operation, so a decision should be kept by
   * (document, operationName, what of the viewer counts) and returned again as the same object.
   * @param document      valid against the API schema, already without `@skip` and `@include` (what they drop is not refused,
   *                      for it was not asked for); the same object for the same text and the same values, so it may key a
   *                      WeakMap. What was dropped may leave a selection set empty. It may hold other operations than the named one; those are of no interest.
   * @param operationName undefined when the document has a single operation
   */
  filter(document: DocumentNode, operationName: string | undefined, viewer: Viewer): AccessDecision
}
