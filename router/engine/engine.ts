import type { DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import type { Browser } from '../../subgraphs/http/browser.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Claim } from '../access/callers/claim.ts'
import type { AccessFilter } from '../access/decision.ts'
import type { AnswerCaching } from './data/caching.ts'
import type { BytesInFlight } from './data/in-flight.ts'
import type { Variants } from './graph/variants.ts'
import type { ActiveOverrides } from './operation/overrides/labels.ts'
import type { PlanTexts } from './plan/plan-text.ts'
import type { Supergraph } from './supergraph.ts'
import type { Work } from './work.ts'

/**
 * One operation of one viewer, as every entry point (HTTP, WebSocket, REST, internal calls, tests) passes it to the
 * engine.
 */
export interface OperationRequest {
  /**
   * Document that is parsed and valid against `schema`, or against that of `graphVariant`; the same object for the same text, because compiled plans are
   * cached by it.
   */
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  /**
   * Name of the variant of the graph that the client asked: its schema decides what is known of variables, of answers
   * and of the schema itself. @default the whole graph
   */
  readonly graphVariant?: string | undefined
  /** Variables as the client sent them: the engine coerces and rejects them (BAD_USER_INPUT). */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly viewer: Viewer
  /**
   * Identity under which the caller's use is counted; callers take turns at planners by it. @default the viewer's own,
   * without an address
   */
  readonly claim?: Claim | undefined
  readonly requestId: string
  /** Headers as the client sent them, for transports that pass some of them to subgraphs. */
  readonly headers?: Headers | undefined
  /** The browser that sent the request, where one is known. */
  readonly browser?: Browser | undefined
  /** Aborts the operation when the caller leaves. */
  readonly signal?: AbortSignal | undefined
  /**
   * Runs the work at an event of a subscription in its turn: the work of many streams at one event is done a few
   * streams at a time. @default at once
   */
  readonly inTurn?: InTurn | undefined
  /** Whether the platform wrote the operation itself, for REST: the cost limit does not apply to it. @default false */
  readonly isOurs?: boolean | undefined
  /** Form of the payloads in which the caller takes deferred fragments. @default none: everything is answered at once */
  readonly incremental?: IncrementalForm | undefined
  /** Labels of progressive overrides that are active. @default none */
  readonly overrides?: ActiveOverrides | undefined
}

/** A form of incremental answers: of graphql-js 17 and Apollo's `incrementalSpec=v0.2`, or of the draft of 2022-08-24. */
export type IncrementalForm = 'v0.2' | '20220824'

/** Key of what a result says about caching: a symbol, because clients do not get it as part of the result. */
export const caching = Symbol('caching')

/** The result of a query or a mutation. */
export interface Answer extends ExecutionResult {
  /** How long the answer may be kept. @default it may not */
  readonly [caching]?: AnswerCaching | undefined
}

/** One JSON object of an incremental answer. */
export interface Payload extends ExecutionResult {
  /** Parts that are announced, in the form v0.2. */
  readonly pending?: readonly { readonly id: string; readonly path: readonly (string | number)[]; readonly label?: string }[]
  readonly incremental?: readonly PayloadEntry[]
  /** Parts that are complete, or failed as a whole, in the form v0.2. */
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly GraphQLError[] }[]
  readonly hasNext: boolean
}

/** Data of one part: named by its id in the form v0.2, else by path and label. */
export interface PayloadEntry {
  readonly id?: string
  readonly subPath?: readonly (string | number)[]
  readonly path?: readonly (string | number)[]
  readonly label?: string
  /** Fields of a deferred fragment; null, in the form of 2022, for one that failed. */
  readonly data?: Record<string, unknown> | null
  /** Elements of a streamed list; null, in the form of 2022, for a list that failed. */
  readonly items?: readonly unknown[] | null
  readonly errors?: readonly GraphQLError[]
}

/**
 * The payloads of one operation with deferred fragments. Each is written out before the next one is asked for, because
 * later data is added to the objects of earlier payloads. `return()` ends what is under way at once.
 */
export interface IncrementalAnswer {
  /** What it says about caching. @default nothing */
  readonly [caching]?: AnswerCaching | undefined
  readonly form: IncrementalForm
  next(): Promise<IteratorResult<Payload, undefined>>
  return(): Promise<IteratorResult<Payload, undefined>>
  /** Completes all parts that are open with an error, in the next payload, which is the last one. */
  cut(error: GraphQLError): void
  /**
   * Returns what ends the answer for a client that has the payloads so far: it makes a last payload in which all parts
   * that are open now fail by an error. The answer itself goes on.
   */
  ending(): (error: GraphQLError) => Payload
}

export interface InTurn {
  <Result>(work: () => Promise<Result>): Promise<Result>
  /** Whether the caller has a free slot that none of the caller's other operations waits for. @default it has */
  readonly hasRoom?: (() => boolean) | undefined
}

/** A stream of results. `return()` settles a pending `next()` and ends the upstream at once. */
export interface ResultStream extends AsyncIterableIterator<ExecutionResult> {
  return(): Promise<IteratorResult<ExecutionResult>>
  /** Whether the stream's source failed, so that an error without data is the last event. */
  isLost?(): boolean
  /** Whether the source has ended the subscription for good, so that it must not be opened again. @default it has not */
  isOver?(): boolean
}

/** One event of a stream, or one payload of an event, ready to be sent. */
export interface LiveEvent {
  /** A payload, which says whether others of the same event follow, where parts of events come later. */
  readonly answer: ExecutionResult | Payload
  /**
   * The record whose latest state the event carries, as named by `@shared(latestBy:)`; null where the directive names
   * none.
   */
  readonly about: string | null
  /** Ends the event after this payload, for a client that goes: the parts that are open fail by an error. @default nothing follows */
  cut?(error: GraphQLError): Payload
}

/**
 * The events of one subscription; where parts of events come later, their payloads, each of which is written out before
 * the next one is asked for. `return()` settles a pending `next()` and ends the upstream at once.
 */
export interface LiveStream {
  next(): Promise<IteratorResult<LiveEvent>>
  return(): Promise<IteratorResult<LiveEvent>>
  /** Whether the stream's source failed: the next event is then the last one and reports the failure. */
  isLost(): boolean
  /** As in `ResultStream`. */
  isOver?(): boolean
}

/** A subscription that is ready to start: everything is decided except what its subgraph answers. */
export interface LiveSubscription {
  /**
   * Key that is equal for all callers whom one stream may serve: their requests are the same, and their answers cannot
   * differ.
   */
  readonly key: string
  /** Name of the operation; null for an anonymous one. */
  readonly operationName: string | null
  /**
   * Returns everything of the graph that the stream depends on, as text: with the same text on another graph, the
   * stream is the same there. @default it is never the same
   */
  basis?(): string
  /** Starts the stream for all subscribers under the key. @param signal ends it, whichever subscriber has left */
  start(signal: AbortSignal, inTurn?: InTurn): Promise<LiveStream | ExecutionResult>
}

/**
 * Says whether a stream that began on a former graph is the same on the present one, so that it may continue.
 * @param stream its request, and the basis that it began with
 */
export type Remains = (stream: { readonly request: OperationRequest; readonly basis: string }) => Promise<boolean>

/**
 * Executes operations for viewers over the supergraph. It never throws for a client's mistake: errors are in the
 * result.
 */
export interface Engine {
  /** The schema as clients see it: without federation machinery and inaccessible elements. */
  readonly schema: GraphQLSchema
  /** The graph's variants; operations on one name it (`OperationRequest.graphVariant`). @default none */
  readonly variants?: Variants
  /** Runs a query or a mutation. */
  execute(request: OperationRequest): Promise<Answer>
  /**
   * Runs a query or a mutation, and answers its deferred fragments after its first payload; a result where nothing is
   * deferred. It settles when the first payload is ready. @default everything is answered at once
   */
  executeIncrementally?(request: OperationRequest): Promise<Answer | IncrementalAnswer>
  /**
   * Prepares a subscription, so that one stream may serve many subscribers; a result instead explains why there is no
   * stream.
   */
  prepareStream(request: OperationRequest): Promise<LiveSubscription | ExecutionResult>
  /**
   * Plans operations before clients request them, one after the other, so that the first request waits for no plan. An
   * operation that cannot be planned is skipped; its first caller gets the error.
   * @param operations documents with a single operation each; the very objects that requests will use
   * @param viewer     whose rights the plans are made for: other viewers may need plans of their own
   */
  warm(operations: readonly DocumentNode[], viewer: Viewer): Promise<void>
  /** Figures of the plan cache, for metrics. */
  plans?(): PlanFigures
  /**
   * Calls the listener whenever `schema` was replaced, before an operation runs against the new one. @default it never
   * does
   */
  onChange?(listener: (remains: Remains) => void): void
  /**
   * Notes that a document was validated against the present `schema`: its operations run on the graph of that moment.
   */
  adopt?(document: DocumentNode): void
  /**
   * Retires this engine after another one has replaced it: operations that were read here finish here, and nothing else
   * is kept for it.
   */
  retire?(): void
}

/** The operations that stay planned, and how often that helped since the start. */
export interface PlanFigures {
  readonly operations: number
  /** Approximate bytes of the cached plans. */
  readonly bytes: number
  /** Operations whose plan was found, ready or in the making. */
  readonly hits: number
  /** Operations for which a plan had to be made. */
  readonly misses: number
}

/** One fetch of a plan, as a transport receives it. */
export interface Fetch {
  /** Name of the subgraph in the supergraph. */
  readonly subgraph: string
  /**
   * Document of the fetch, parsed once per plan: the same object for the same fetch, so a transport may cache compiled
   * forms by it.
   */
  readonly document: DocumentNode
  /** The document as text, for transports that send it. */
  readonly text: string
  readonly kind: 'query' | 'mutation' | 'subscription'
  /** Time that the fetch may take in ms where `@patience` grants more than the usual limit. @default the usual limit */
  readonly timeoutMs?: number | undefined
}

/** The context in which a fetch is executed. */
export interface FetchCall {
  readonly variables: Readonly<Record<string, unknown>>
  readonly viewer: Viewer
  readonly requestId: string
  readonly headers?: Headers | undefined
  /** The browser that sent the request, where one is known. */
  readonly browser?: Browser | undefined
  readonly signal?: AbortSignal | undefined
  /** When the operation's time ends, in ms of the engine's clock (`EngineOptions.now`). */
  readonly deadline?: number | undefined
  /**
   * One object for each client operation, and for each event: a transport counts the work there, and caches by it
   * whatever lives as long as the operation.
   */
  readonly operation: Work
}

/** The context in which a subscription is started. Its deadline is that of the start; each event has its own. */
export interface StreamCall extends FetchCall {
  /** Milliseconds that the work at one event may take, from its arrival. @default unlimited */
  readonly eventMs?: number | undefined
  /** Like `OperationRequest.inTurn`, for the transport's own work at an event. */
  readonly inTurn?: InTurn | undefined
}

/**
 * Sends fetches to subgraphs: by a call in this process, or over HTTP. Results are JSON-safe either way and belong to
 * the caller: the engine builds its data out of their objects, so no two calls may return the same object.
 */
export interface Transport {
  /** Names of the client's headers that some subgraph receives: answers may depend on them. @default none */
  readonly passed?: readonly string[]
  /** Whether it reads how long subgraphs' answers may be kept (`headersOf`). @default it does not */
  readonly readsCacheHeaders?: boolean
  fetch(fetch: Fetch, call: FetchCall): Promise<ExecutionResult>
  /** Starts a subscription. An event that cannot be resolved is an error result of the stream and does not end it. */
  subscribe(fetch: Fetch, call: StreamCall): Promise<ResultStream | ExecutionResult>
}

/** Options of an engine. */
export interface EngineOptions {
  /** SDL as composition writes it, or the result of `readSupergraph`. */
  readonly supergraphSdl: string | Supergraph
  readonly transport: Transport
  /** Filters operations by the viewer's rights; without a filter, all callers may read everything. */
  readonly access?: AccessFilter | undefined
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** Maximum number of operations whose plans are cached; the least recently used are dropped. @default 1000 */
  readonly planCacheSize?: number | undefined
  /** Approximate maximum bytes of all cached plans. @default 96 MiB */
  readonly planCacheBytes?: number | undefined
  /**
   * Milliseconds that all fetches of one operation, or of one event, may take together, unless one of its fields grants
   * more (`@patience`). @default 30000
   */
  readonly operationTimeoutMs?: number | undefined
  /** Milliseconds of a monotonic clock, by which deadlines are set. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
  /** Maximum bytes of an answer, or of an event, as JSON. @default 16 MiB */
  readonly answerBytes?: number | undefined
  /** Whether clients may use `@defer`. @default true */
  readonly incremental?: boolean | undefined
  /** Maximum number of deferred parts of one answer; those of a list that would bring more come with what is around them. @default 1000 */
  readonly incrementalParts?: number | undefined
  /** Counts the bytes held for all operations. @default only the bytes of each single operation are limited */
  readonly inFlight?: BytesInFlight | undefined
  /**
   * Maximum estimated cost of an operation: a more expensive one is rejected before it is planned. @default no limit
   */
  readonly maxCost?: number | undefined
  /** Tells clients the text of internal errors: for development only. */
  readonly exposeInternalErrors?: boolean | undefined
  /** Milliseconds after which a query or mutation is logged with its plan. @default none is logged */
  readonly slowMs?: number | undefined
  /** How long answers may be kept. @default as the schema says, without a default age */
  readonly caching?: CachingOptions | undefined
  /** Makes the plans. @default in this process, where a plan that has begun cannot be stopped */
  readonly planTexts?: PlanTexts | undefined
  /** Called with the milliseconds that each plan took. */
  readonly planned?: ((ms: number) => void) | undefined
  /** Returns the query plan to callers that send `x-graphql-plan: show`: for development only. */
  readonly exposePlans?: boolean | undefined
}

export interface CachingOptions {
  /** Seconds for root fields, and fields of objects, for which neither schema nor subgraph names an age. */
  readonly defaultMaxAge: number
  /** Maximum seconds for which anything may be kept. */
  readonly maxAge: number
  /** Whether a response cache is in use, so that answers tell its state. */
  readonly isOn: boolean
}
