import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Claim } from '../access/callers/claim.ts'
import type { AccessFilter } from '../access/decision.ts'
import type { BytesInFlight } from './data/in-flight.ts'
import type { PlanTexts } from './plan/plan-text.ts'
import type { Supergraph } from './supergraph.ts'
import type { Work } from './work.ts'

/** One operation of one viewer: what every door (HTTP, WebSocket, REST, asking, tests) hands to the engine. */
export interface OperationRequest {
  /** Parsed and valid against `schema`; the same object for the same text, for compiled plans hang on it. */
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  /** As the client sent them: the engine coerces and refuses (BAD_USER_INPUT). */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly viewer: Viewer
  /** Under what everything of the caller counts; callers take turns at planners. @default the viewer's own, without an address */
  readonly claim?: Claim | undefined
  readonly requestId: string
  /** As the client sent them, for transports that let some of them pass to subgraphs. */
  readonly headers?: Headers | undefined
  /** The browser that asks, where one is known. */
  readonly browser?: Browser | undefined
  /** Aborts the work when the caller leaves. */
  readonly signal?: AbortSignal | undefined
  /** Works out an event of a subscription when it may: the work of many streams at one event is done a few at a time. @default at once */
  readonly inTurn?: InTurn | undefined
  /** Whether the platform wrote the operation itself, for REST: then it may cost what it costs. @default false */
  readonly isOurs?: boolean | undefined
}

export interface InTurn {
  <Result>(work: () => Promise<Result>): Promise<Result>
  /** Whether the caller has a place that nothing else of the caller's waits for. @default it has */
  readonly hasRoom?: (() => boolean) | undefined
}

/** A stream of results. `return()` settles a pending `next()` and ends the upstream at once. */
export interface ResultStream extends AsyncIterableIterator<ExecutionResult> {
  return(): Promise<IteratorResult<ExecutionResult>>
  /** Whether the source broke, so that an error without data is its last word. */
  isLost?(): boolean
}

/** One event of a stream, worked out. */
export interface LiveEvent {
  readonly answer: ExecutionResult
  /** What it tells the latest of, as `@shared(latestBy:)` names it; null where nothing is named. */
  readonly about: string | null
}

/** The events of one subscription. `return()` settles a pending `next()` and ends the upstream at once. */
export interface LiveStream {
  next(): Promise<IteratorResult<LiveEvent>>
  return(): Promise<IteratorResult<LiveEvent>>
  /** Whether the source broke: what follows is its last word, and says so. */
  isLost(): boolean
}

/** A subscription that may start: everything is decided that comes before the first word with its subgraph. */
export interface LiveSubscription {
  /** Equal for those whom one stream may serve: the same question, and nothing in it that could differ between them. */
  readonly key: string
  /** Name of the operation; null for one without. */
  readonly operationName: string | null
  /** Starts it for everybody under the key. @param signal ends it, whoever else is gone */
  start(signal: AbortSignal, inTurn?: InTurn): Promise<LiveStream | ExecutionResult>
}

/** Executes operations for viewers over the supergraph. It never throws for what a client sent: errors are in the result. */
export interface Engine {
  /** What clients see: no federation machinery, no inaccessible element. */
  readonly schema: GraphQLSchema
  /** Runs a query or a mutation. */
  execute(request: OperationRequest): Promise<ExecutionResult>
  /** Prepares a subscription, so that one stream may serve many; a result says why there is none. */
  prepareStream(request: OperationRequest): Promise<LiveSubscription | ExecutionResult>
  /**
   * Plans operations before anybody asks them, one after the other, so that the first who asks waits for no plan. An operation that
   * cannot be planned is skipped; its caller gets the error.
   * @param operations documents with a single operation each; the very objects that will be asked
   * @param viewer     with whose rights they are planned: others may need a plan of their own
   */
  warm(operations: readonly DocumentNode[], viewer: Viewer): Promise<void>
  /** What is kept of plans, for metrics. */
  plans?(): PlanFigures
  /** Calls the listener whenever `schema` was replaced, before an operation runs against it. @default it never does */
  onChange?(listener: () => void): void
  /** Notes that a document was read against the present `schema`: its operations are run by what was present then. */
  adopt?(document: DocumentNode): void
  /** Another one answers from now on: what was read here ends here, and no more is kept for it than that needs. */
  retire?(): void
}

/** The operations that stay planned, and how often that helped since the start. */
export interface PlanFigures {
  readonly operations: number
  /** Roughly. */
  readonly bytes: number
  /** Operations that found their plan made, or in the making. */
  readonly hits: number
  /** Operations for which a plan had to be made. */
  readonly misses: number
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
  /** How long it may take at least in ms, where that is longer than usual (`@patience`). @default what is usual */
  readonly patienceMs?: number | undefined
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
  /** Names of the client's headers that some subgraph is given: answers may depend on them. @default none */
  readonly passed?: readonly string[]
  fetch(fetch: Fetch, call: FetchCall): Promise<ExecutionResult>
  /** An event that cannot be worked out is an error result of the stream, and not its end. */
  subscribe(fetch: Fetch, call: StreamCall): Promise<ResultStream | ExecutionResult>
}

/** What an engine is made of. */
export interface EngineOptions {
  /** SDL as composition writes it, or what `readSupergraph` made of it. */
  readonly supergraphSdl: string | Supergraph
  readonly transport: Transport
  /** Without a filter, all callers may read everything. */
  readonly access?: AccessFilter | undefined
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** How many operations stay planned; the least recently used go. 1000 unless told. */
  readonly planCacheSize?: number | undefined
  /** Bytes that all of them may take, roughly. @default 96 MiB */
  readonly planCacheBytes?: number | undefined
  /** Milliseconds that the fetches of one operation, or of one event, have together, unless a field of it says more (`@patience`). 30000 unless told. */
  readonly operationTimeoutMs?: number | undefined
  /** Milliseconds of a clock that only goes forward, by which deadlines are set. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
  /** Bytes of an answer, or of an event's, as JSON. @default 16 MiB */
  readonly answerBytes?: number | undefined
  /** Where bytes are counted that are held for operations. @default only those of one operation are bounded */
  readonly inFlight?: BytesInFlight | undefined
  /** What an operation may be estimated to cost: one that may cost more is refused before it is planned. @default nothing is counted */
  readonly maxCost?: number | undefined
  /** Tells clients the text of internal errors: for development only. */
  readonly exposeInternalErrors?: boolean | undefined
  /** Queries and mutations that take so many milliseconds are logged with their plan. @default none is */
  readonly slowMs?: number | undefined
  /** Has plans made. @default in this process, where nothing ends a plan that has begun */
  readonly planTexts?: PlanTexts | undefined
  /** Told how many ms it took to make a plan. */
  readonly planned?: ((ms: number) => void) | undefined
  /** Returns the query plan to callers that send `x-graphql-plan: show`: for development only. */
  readonly exposePlans?: boolean | undefined
}
