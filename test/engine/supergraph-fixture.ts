import { setTimeout as delay } from 'node:timers/promises'
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { type ExecutionResult, type GraphQLSchema, parse, validate } from 'graphql'
import { createMemoryEvents } from '../../platform/events.ts'
import type { Claim } from '../../router/access/callers/claim.ts'
import type { AccessFilter } from '../../router/access/decision.ts'
import type { BytesInFlight } from '../../router/engine/data/in-flight.ts'
import type { Engine, Fetch, FetchCall, OperationRequest, ResultStream, Transport } from '../../router/engine/engine.ts'
import type { VariantRule } from '../../router/engine/graph/variants.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import type { PlanTexts } from '../../router/engine/plan/plan-text.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { cachingTransport } from '../../router/engine/transport/cache/caching-transport.ts'
import type { ResponseCache } from '../../router/engine/transport/cache/store.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import type { Operation, Subgraph } from '../../subgraphs/subgraph.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { subscribeAlone } from '../kit/stream.ts'

type Module = Extract<Parameters<typeof buildSubgraphSchema>[0], readonly unknown[]>[number]
type Resolvers = NonNullable<Extract<Module, { typeDefs: unknown }>['resolvers']>

/** One subgraph of a test: its SDL without the federation link, and resolvers in Apollo's form. */
export interface Part {
  readonly sdl: string
  readonly resolvers?: Resolvers
  /** Makes the resolvers' context. */
  readonly open?: (viewer: Viewer, operation: Operation) => object
}

export interface Sent {
  readonly subgraph: string
  readonly text: string
  readonly variables: Readonly<Record<string, unknown>>
}

export interface TestGraph {
  readonly engine: Engine
  readonly schema: GraphQLSchema
  /** How the engine reaches the subgraphs. */
  readonly transport: Transport
  /** Every fetch since the graph was made. */
  readonly sent: Sent[]
  /** What was logged, as the fields of each line. */
  readonly logged: Record<string, unknown>[]
  run(source: string, variables?: Record<string, unknown>, more?: RunOptions): Promise<Answer>
  subscribe(source: string, variables?: Record<string, unknown>, more?: RunOptions): Promise<ResultStream | ExecutionResult>
}

export interface RunOptions {
  readonly viewer?: Viewer
  readonly claim?: Claim
  readonly operationName?: string
  readonly signal?: AbortSignal
  readonly inTurn?: OperationRequest['inTurn']
  readonly headers?: Readonly<Record<string, string>>
  /** Runs a document that validation refuses. */
  readonly unchecked?: boolean
}

/** A result after a trip through JSON, with its data as text too, so that the order of keys can be compared. */
export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own operation selects
  readonly data: any
  readonly errors?: readonly { message: string; path?: readonly (string | number)[]; extensions?: Record<string, unknown> }[]
  readonly extensions?: Record<string, unknown>
  readonly text: string
}

export interface GraphOptions {
  readonly access?: AccessFilter
  /** Rules of the graph's variants. @default none */
  readonly variants?: Readonly<Record<string, VariantRule>>
  /** Stands between the engine and the embedded transport. */
  readonly intercept?: (fetch: Fetch, call: FetchCall, next: () => Promise<ExecutionResult>) => Promise<ExecutionResult>
  readonly planCacheSize?: number
  readonly planCacheBytes?: number
  /** Lets fetch documents pass that their subgraph would refuse to validate, e.g. for a literal that only its scalar can read. */
  readonly unvalidatedFetches?: boolean
  readonly exposeInternalErrors?: boolean
  readonly exposePlans?: boolean
  readonly slowMs?: number
  readonly maxCost?: number
  readonly operationTimeoutMs?: number
  readonly answerBytes?: number
  readonly incremental?: boolean
  readonly incrementalParts?: number
  readonly inFlight?: BytesInFlight
  /** Makes plans elsewhere. @default in this process */
  readonly planTexts?: (supergraphSdl: string) => PlanTexts
  /** The clock of deadlines. */
  readonly now?: () => number
  /** A response cache in which everything is kept that has no shorter age. */
  readonly cache?: ResponseCache
  /** Is given each subgraph's schema before anything is asked of it. */
  readonly schemas?: (schema: GraphQLSchema) => void
}

const kept = { defaultMaxAge: 300, maxAge: 300 }

const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.12", import: ["@key", "@requires", "@external", "@provides",
  "@shareable", "@interfaceObject", "@inaccessible", "@requiresScopes", "@authenticated", "@policy", "@override", "@composeDirective", "@cost", "@listSize", "@tag", "@context", "@fromContext", "@cacheTag"])\n`

/** A subgraph's SDL with the federation link that tests leave out. */
export const withLink = (sdl: string): string => link + sdl

/** Composes subgraphs and throws what composition says against them. */
export function compose(parts: Readonly<Record<string, Part>>): string {
  const composed = composeServices(Object.entries(parts).map(([name, part]) => ({ name, url: `http://${name}.invalid`, typeDefs: parse(link + part.sdl) })))
  if (composed.errors) throw new Error(composed.errors.map(String).join('\n'))
  return composed.supergraphSdl
}

/** Composes subgraphs and runs them in this process under the engine. */
export function testGraph(parts: Readonly<Record<string, Part>>, options: GraphOptions = {}): TestGraph {
  const supergraphSdl = compose(parts)
  const sent: Sent[] = []
  const logged: Record<string, unknown>[] = []
  const subgraphs = new Map(Object.entries(parts).map(([name, part]) => [name, subgraphOf(part)]))
  const embedded = createEmbeddedTransport(subgraphs, options.now)
  for (const { schema } of subgraphs.values()) options.schemas?.(schema)
  const transport: Transport = {
    fetch(fetch, call) {
      sent.push({ subgraph: fetch.subgraph, text: fetch.text, variables: call.variables })
      // The embedded transport does not validate; a subgraph behind HTTP would.
      const mistakes = options.unvalidatedFetches ? [] : validate(subgraphs.get(fetch.subgraph)!.schema, fetch.document)
      if (mistakes.length > 0) throw new Error(`An invalid document for ${fetch.subgraph}: ${mistakes.join('\n')}\n${fetch.text}`)
      return options.intercept ? options.intercept(fetch, call, () => embedded.fetch(fetch, call)) : embedded.fetch(fetch, call)
    },
    subscribe(fetch, call) {
      sent.push({ subgraph: fetch.subgraph, text: fetch.text, variables: call.variables })
      return embedded.subscribe(fetch, call)
    },
  }
  const write = (fields: unknown) => void logged.push(fields as Record<string, unknown>)
  const {
    access,
    planCacheSize,
    planCacheBytes,
    exposeInternalErrors,
    exposePlans,
    maxCost,
    slowMs,
    operationTimeoutMs,
    answerBytes,
    incremental,
    incrementalParts,
    inFlight,
    now,
  } = options
  const limits = { planCacheSize, planCacheBytes, maxCost, slowMs, operationTimeoutMs, answerBytes, incremental, incrementalParts, inFlight, now }
  const planTexts = options.planTexts?.(supergraphSdl)
  const supergraph = readSupergraph(supergraphSdl, options.variants)
  const engine = createEngine({
    supergraphSdl: supergraph,
    transport: options.cache ? cachingTransport(transport, { ...kept, supergraph, cache: options.cache, viewerOf: () => 'viewer' }) : transport,
    caching: options.cache && { ...kept, isOn: true },
    planTexts,
    access,
    exposeInternalErrors,
    exposePlans,
    ...limits,
    log: { error: write, warn: write },
  })
  const requestOf = (source: string, variables: Record<string, unknown> | undefined, more: RunOptions) => {
    const document = parse(source)
    const mistakes = more.unchecked ? [] : validate(engine.schema, document)
    if (mistakes.length > 0) throw new Error(`The test's own operation is not valid: ${mistakes.join('\n')}\n${source}`)
    const { viewer = anonymous, claim, operationName, signal, inTurn } = more
    const headers = more.headers && new Headers(more.headers)
    return { document, variables, viewer, claim, operationName, signal, inTurn, headers, requestId: 'request-1' }
  }
  return {
    engine,
    schema: engine.schema,
    transport,
    sent,
    logged,
    async run(source, variables, more = {}) {
      return answerOf(await engine.execute(requestOf(source, variables, more)))
    },
    subscribe: (source, variables, more = {}) => subscribeAlone(engine, requestOf(source, variables, more)),
  }
}

export function answerOf(result: ExecutionResult): Answer {
  const { data, errors, extensions } = JSON.parse(JSON.stringify(result)) as Answer
  return { data, ...(errors && { errors }), ...(extensions && { extensions }), text: JSON.stringify(result.data) }
}

/** The executable schema of one subgraph. */
export const schemaOf = (part: Part): GraphQLSchema => buildSubgraphSchema([{ typeDefs: parse(link + part.sdl), resolvers: part.resolvers ?? {} }])

export function subgraphOf(part: Part): Subgraph {
  const none = async () => {}
  return {
    registration: {} as Subgraph['registration'],
    schema: schemaOf(part),
    open: part.open ?? (() => ({})),
    start: none,
    stop: none,
  }
}

/** Paths of an answer's errors as texts, sorted. */
export const pathsOf = (answer: Answer) => (answer.errors ?? []).map(error => (error.path ?? []).join('.')).sort()

export const codesOf = (answer: Answer) => (answer.errors ?? []).map(error => error.extensions?.code)

/** Waits until a condition holds; fails after ten seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > end) throw new Error('The condition did not come true within ten seconds')
    await delay(2)
  }
}

/** A source of events whose listeners can be counted. */
export const eventSource = createMemoryEvents
