import { createHash } from 'node:crypto'
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema, getOperationAST, Kind, parse, print, validate } from 'graphql'
import { LRUCache } from 'lru-cache'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import type { IncrementalAnswer, LiveStream, OperationRequest } from '../../engine.ts'
import type { CompiledPlan } from '../../execute/step.ts'
import type { Stage } from '../../native/hooks.ts'
import { createEngine as createNative } from '../../native/native.ts'
import type { ServiceEndpointDefinition } from '../config.ts'
import { explainAsGateway } from '../gateway/downstream.ts'
import { defaultLogger, engineLog } from '../host/logger.ts'
import { namesOf } from '../plan/query-plan.ts'
import { createSubgraphMap } from '../sources/subgraph-map.ts'
import { createSourceTransport, type IncomingViewer } from '../sources/transport.ts'
import { inSpan, inStageSpan } from '../spans.ts'
import { readSubgraphs } from '../supergraph-text.ts'
import type { GraphQLDataSource, Logger, OpenTelemetryConfig } from '../types.ts'

export interface EngineConfig {
  /** The supergraph, as composition writes it. */
  supergraphSdl: string
  /** Makes the data source of a subgraph. @default `RemoteGraphQLDataSource` */
  buildService?: (definition: ServiceEndpointDefinition) => GraphQLDataSource
  /** @default the console, for warnings and errors */
  logger?: Logger
  telemetry?: OpenTelemetryConfig
  /** Whether the supergraph is validated completely. @default unless NODE_ENV is production */
  validateSupergraph?: boolean
  /** Approximate MiB of all plans that stay ready. @default 96 */
  planCacheMiB?: number
  /** Milliseconds that all requests of an operation to subgraphs may take together. @default 30000 */
  operationTimeoutMs?: number
  /** Maximum bytes of an answer. @default 16 MiB */
  answerBytes?: number
}

export interface EngineRequest {
  /** The operation, as text or parsed. */
  query: string | DocumentNode
  variables?: Record<string, unknown> | undefined
  operationName?: string | null | undefined
  /** What hooks of data sources, and resolvers in this process, are given. @default an empty object */
  context?: Record<string, unknown> | undefined
  /** Form of the payloads of an answer that defers; none: everything is answered at once. @default v0.2 */
  incremental?: 'v0.2' | '20220824' | 'none' | undefined
  /** Aborts the operation when its client leaves. */
  signal?: AbortSignal | undefined
}

/** One payload of an answer with `@defer` or `@stream`: as `incrementalSpec=v0.2` has it, or `deferSpec=20220824`. */
export interface IncrementalPayload {
  readonly data?: Record<string, unknown> | null
  readonly errors?: readonly GraphQLError[]
  readonly pending?: readonly { readonly id: string; readonly path: readonly (string | number)[]; readonly label?: string }[]
  readonly incremental?: readonly {
    readonly id?: string
    readonly path?: readonly (string | number)[]
    readonly label?: string
    readonly subPath?: readonly (string | number)[]
    readonly data?: Record<string, unknown> | null
    readonly items?: readonly unknown[] | null
    readonly errors?: readonly GraphQLError[]
  }[]
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly GraphQLError[] }[]
  readonly hasNext: boolean
  readonly extensions?: Record<string, unknown>
}

export interface GatewayEngine {
  /** The schema for clients. */
  readonly schema: GraphQLSchema
  /** Runs a query or a mutation. An operation that defers is answered by its payloads; each is to be written before the next one is asked for. */
  execute(request: EngineRequest): Promise<ExecutionResult | AsyncIterableIterator<IncrementalPayload>>
  /** Starts a subscription; a result says why there is none. */
  subscribe(request: EngineRequest): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult>
  /** Ends all subscriptions and answers under way. */
  stop(): Promise<void>
}

/** Number of operations that stay parsed and validated. */
const keptDocuments = 2000

interface Read {
  readonly document: DocumentNode
  readonly source: string
  readonly errors: readonly GraphQLError[]
}

/**
 * Makes an engine for servers of any kind.
 * @throws Error for a text that is no supergraph, or has rules that nobody would apply
 */
export function createEngine(config: EngineConfig): GatewayEngine {
  const { supergraphSdl, logger = defaultLogger(), telemetry, planCacheMiB = 96, operationTimeoutMs, answerBytes } = config
  const subgraphs = createSubgraphMap(config.buildService ? { buildService: config.buildService } : {}, logger)
  for (const definition of readSubgraphs(supergraphSdl, config.validateSupergraph)) subgraphs.use(definition)
  const plans = new WeakMap<CompiledPlan, ReturnType<typeof namesOf>>()
  const native = createNative({
    supergraphSdl,
    transport: createSourceTransport(subgraphs.sourceOf, telemetry),
    log: engineLog(logger),
    planCacheSize: 100_000,
    planCacheBytes: planCacheMiB * 1024 * 1024,
    operationTimeoutMs,
    answerBytes,
    hooks: {
      explain: explainAsGateway,
      planned({ viewer }: OperationRequest, plan: CompiledPlan, clientKeys) {
        const incoming = viewer as IncomingViewer
        const known = plans.get(plan) ?? namesOf(plan, incoming.requestContext.operationName, clientKeys)
        plans.set(plan, known)
        incoming.names = known
      },
      stage: <Result>(stage: Stage, _request: Pick<OperationRequest, 'viewer'>, work: () => Result) => inStageSpan(stage, telemetry, {}, work),
    },
  })
  const { schema } = native
  const read = createReading(schema)
  const ending = new AbortController()

  const asked = (request: EngineRequest, { document, source }: Read): OperationRequest => {
    const { variables = {}, operationName, context = {} } = request
    const signal = request.signal ? AbortSignal.any([request.signal, ending.signal]) : ending.signal
    const operation = getOperationAST(document, operationName)!
    const requestContext = {
      request: { query: source, variables, ...(operationName && { operationName }) },
      ...{
        context,
        document,
        source,
        schema,
        logger,
        operation,
        operationName: operation?.name?.value ?? null,
        queryHash: '',
        metrics: {},
        overallCachePolicy: null,
      },
    }
    const viewer: IncomingViewer = { ...anonymous, requestContext, names: new Map() }
    const { incremental = 'v0.2' } = request
    return {
      document,
      operationName: operationName ?? undefined,
      variables,
      viewer,
      requestId: '',
      claim,
      signal,
      ...(incremental !== 'none' && { incremental }),
    }
  }

  return {
    schema,
    execute: request =>
      inSpan('gateway.request', telemetry, request.operationName ? { 'graphql.operation.name': request.operationName } : {}, async span => {
        const known = read(request.query)
        const mistakes = mistakesIn(request, known, schema, 'execute')
        if (mistakes.length > 0) return { errors: mistakes }
        const answer = await native.executeIncrementally!(asked(request, known))
        if ('next' in answer) return payloads(answer)
        if (answer.errors) span.failed(answer.errors, telemetry)
        return answer
      }),
    async subscribe(request) {
      const known = read(request.query)
      const mistakes = mistakesIn(request, known, schema, 'subscribe')
      if (mistakes.length > 0) return { errors: mistakes }
      const prepared = await native.prepareStream(asked(request, known))
      if (!('start' in prepared)) return prepared
      const own = new AbortController()
      const signals = [own.signal, ending.signal, ...(request.signal ? [request.signal] : [])]
      const stream = await prepared.start(AbortSignal.any(signals))
      return 'next' in stream ? events(stream, own) : stream
    },
    async stop() {
      ending.abort()
    },
  }
}

/** All operations take turns as those of one caller: the engine does not know its callers. */
const claim = { caller: 'engine', organization: 'engine' }

/** Returns what keeps a request from being run. Servers may hand over what their clients sent, whatever it is. */
function mistakesIn(
  { variables, operationName }: EngineRequest,
  { document, errors }: Read,
  schema: GraphQLSchema,
  call: 'execute' | 'subscribe',
): readonly GraphQLError[] {
  if (errors.length > 0) return errors
  const mistake = (message: string, code = 'BAD_REQUEST') => [new GraphQLError(message, { extensions: { code } })]
  if (typeof (variables ?? {}) !== 'object' || Array.isArray(variables))
    return mistake('The variables are no object: send them as an object of names and values.')
  if (typeof (operationName ?? '') !== 'string') return mistake('The operationName is no text.')
  const kind = getOperationAST(document, operationName)?.operation
  // Validation lets operations pass whose kind the schema does not know.
  if (kind && !schema.getRootType(kind)) return mistake(`Schema is not configured to execute ${kind} operation.`, 'GRAPHQL_VALIDATION_FAILED')
  if (kind === 'subscription' && call === 'execute') return mistake('The operation is a subscription: start it by subscribe().', 'BAD_USER_INPUT')
  return []
}

/** Reads operations once: plans are kept by the parsed document. */
function createReading(schema: GraphQLSchema): (query: string | DocumentNode) => Read {
  const byText = new LRUCache<string, Read>({ max: keptDocuments })
  const byDocument = new WeakMap<DocumentNode, Read>()
  const readDocument = (document: DocumentNode, source: string): Read => ({ document, source, errors: mistakesOf(document) })
  const mistakesOf = (document: DocumentNode): readonly GraphQLError[] => {
    try {
      return validate(schema, document).map(error => withCode(error, 'GRAPHQL_VALIDATION_FAILED'))
    } catch (cause) {
      return [unread(cause)]
    }
  }
  return query => {
    if (!isOperation(query)) return { document: nothing, source: '', errors: [noOperation] }
    if (typeof query !== 'string') {
      const known = byDocument.get(query) ?? readDocument(query, print(query))
      byDocument.set(query, known)
      return known
    }
    const key = createHash('sha256').update(query).digest('base64')
    let known = byText.get(key)
    if (!known) {
      try {
        known = readDocument(parse(query), query)
      } catch (cause) {
        return { document: nothing, source: query, errors: [unread(cause)] }
      }
      byText.set(key, known)
    }
    return known
  }
}

const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] }

/** Whether a query is a text or a parsed document; in JavaScript it may be anything. */
const isOperation = (query: unknown): query is EngineRequest['query'] =>
  typeof query === 'string' || (typeof query === 'object' && query !== null && 'kind' in query && query.kind === Kind.DOCUMENT)

const noOperation = new GraphQLError('The request has no operation: give it as `query`, a text or a parsed document.', { extensions: { code: 'BAD_REQUEST' } })

/** Returns the error of a text that cannot be read. Any other error than a mistake is a stack overflow: thousands of nested brackets. */
const unread = (cause: unknown): GraphQLError =>
  cause instanceof GraphQLError
    ? withCode(cause, 'GRAPHQL_PARSE_FAILED')
    : new GraphQLError('The operation nests fields, fragments or values too deep.', { extensions: { code: 'GRAPHQL_PARSE_FAILED' } })

const withCode = ({ message, nodes, source, positions }: GraphQLError, code: string) =>
  new GraphQLError(message, { ...(nodes && { nodes }), ...(source && { source }), ...(positions && { positions }), extensions: { code } })

const payloads = (answer: IncrementalAnswer): AsyncIterableIterator<IncrementalPayload> =>
  iterator(
    () => answer.next() as Promise<IteratorResult<IncrementalPayload>>,
    () => answer.return(),
  )

const events = (stream: LiveStream, own: AbortController): AsyncIterableIterator<ExecutionResult> =>
  iterator(
    async () => {
      const { value, done } = await stream.next()
      return (done ? { value: undefined, done } : { value: value.answer, done: false }) as IteratorResult<ExecutionResult>
    },
    async () => {
      own.abort()
      await stream.return()
    },
  )

function iterator<Value>(next: () => Promise<IteratorResult<Value>>, leave: () => Promise<unknown>): AsyncIterableIterator<Value> {
  return {
    next,
    async return() {
      await leave()
      return { value: undefined, done: true }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
