import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import { Counter, type Registry } from 'prom-client'
import { causeNow } from '../../platform/caller/cause.ts'
import { finished, keptSpan } from '../../platform/caller/trace.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { publicCodeOf, publicCodes } from '../access/refusal.ts'
import type { Engine, Fetch, LiveStream, LiveSubscription, OperationRequest, Transport } from '../engine/engine.ts'
import { registerFigures } from './figure.ts'
import { openHistogram, type Series } from './histogram.ts'
import { type EventFigures, openIncrementalFigures } from './incremental.ts'
import { createNames, otherName } from './names.ts'
import { anonymous, describeOperation, isOfOperation } from './operation-span.ts'

/** Measures the router's operations, over all protocols. */
export interface OperationFigures {
  /** Wraps an engine to count every operation, its duration, and its errors. */
  watchEngine(engine: Engine): Engine
  /** Wraps a transport to measure each fetch. */
  watchTransport<T extends Transport>(transport: T): T
  /** Records the planning time of an operation, in ms. */
  planned(ms: number): void
  /** Records that planning an operation exceeded its limits. */
  planStopped(): void
}

/** Maximum numbers of operation names and client names that are counted separately: callers choose both. */
const most = { operations: 500, clients: 100 }
/** Maximum number of combinations of these names: each takes about eighteen lines. */
const mostSeries = 3000

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The result of an operation: complete, partial, refused because of the request, or failed because of us. */
export const outcomes = ['success', 'partial', 'refused', 'failed'] as const
type Outcome = (typeof outcomes)[number]

interface Named {
  readonly operation: string
  readonly type: string
  /** Variant of the graph; undefined for the whole graph. */
  readonly variant: string | undefined
}

/** One set of labels with its counters. */
interface Counted {
  readonly count: Count
  readonly took: Series
}

interface Count {
  readonly labels: Readonly<Record<string, string>>
  value: number
}

/** Registers the figures of operations, fetches and plans. */
function openFigures(registry: Registry) {
  const registers: [Registry] = [registry]
  const counts: Count[] = []
  registerFigures(registry, [
    {
      name: 'supergraph_operations_total',
      help: 'Operations that were valid, whichever door they came by.',
      labels: ['operation', 'type', 'client', 'outcome', 'variant'],
      read: () => counts,
    },
  ])
  const durations = openHistogram(registry, {
    name: 'supergraph_operation_duration_seconds',
    help: 'From the valid operation to its answer. Subscriptions: to the moment at which they may begin.',
    buckets,
  })
  const fetches = openHistogram(registry, { name: 'supergraph_fetch_duration_seconds', help: 'From the question to a subgraph to its answer.', buckets })
  const failures = new Counter({
    name: 'supergraph_fetch_failures_total',
    help: 'Questions to a subgraph that it did not answer as one that works does.',
    labelNames: ['subgraph'],
    registers,
  })
  const planning = openHistogram(registry, { name: 'supergraph_planning_duration_seconds', help: 'Making one plan, with the wait for its turn.', buckets })({})
  const stopped = new Counter({
    name: 'supergraph_plans_stopped_total',
    help: 'Operations that took more than they may to be planned: each cost a planner, which was replaced.',
    registers,
  })
  return { counts, durations, fetches, failures, planning, stopped }
}

export function measureOperations(registry: Registry, now: () => number = () => performance.now()): OperationFigures {
  const { counts, durations, fetches, failures, planning, stopped } = openFigures(registry)
  const countError = countErrorsIn(registry)
  const [operationNames, clientNames] = [createNames(most.operations), createNames(most.clients)]
  const asked = new WeakMap<DocumentNode, Map<string | undefined, Named>>()
  const series = new Map<string, Counted>()
  const subgraphs = new Map<string, { readonly took: Series; readonly failed: { inc(): void } }>()

  const countedOf = ({ document, operationName: name, graphVariant: variant }: OperationRequest): Named => {
    const known = asked.get(document)?.get(name)
    if (known) return known
    const definition = getOperationAST(document, name)
    const counted = { operation: operationNames(definition?.name?.value ?? anonymous), type: definition?.operation ?? 'unknown', variant }
    const ofDocument = asked.get(document) ?? new Map<string | undefined, Named>()
    // Names of unknown operations are not counted.
    if (definition) asked.set(document, ofDocument.set(name, counted))
    return counted
  }
  const seriesOf = ({ operation, type, variant }: Named, client: string, outcome: Outcome): Counted => {
    const key = `${operation} ${type} ${outcome} ${variant ?? ''} ${client}`
    let found = series.get(key)
    if (found) return found
    if (series.size >= mostSeries && operation !== otherName) return seriesOf({ operation: otherName, type, variant }, otherName, outcome)
    // To Prometheus a label that is left out is the same as an empty one.
    const labels = { operation, type, client, outcome, ...(variant !== undefined && { variant }) }
    found = { count: { labels, value: 0 }, took: durations(labels) }
    counts.push(found.count)
    series.set(key, found)
    return found
  }
  const countErrors = (errors: ExecutionResult['errors']) => {
    for (const error of errors ?? []) countError(error)
  }
  /** Starts measuring an operation. @returns a function that ends it */
  const begin = (request: OperationRequest) => {
    const began = now()
    const counted = countedOf(request)
    const cause = causeNow()
    // A service's own queries within the operation are not counted as the client's.
    const isClients = cause !== undefined && cause.operation === undefined
    if (isClients) cause.operation = counted.operation
    return (result: Pick<ExecutionResult, 'data' | 'errors'>) => {
      const { count, took } = seriesOf(counted, clientNames(clientOf(request.viewer)), outcomeOf(result))
      count.value += 1
      took.observe((now() - began) / 1000)
      countErrors(result.errors)
      if (isClients && result.errors) cause.errors = tallied(result.errors)
    }
  }
  const failed: ExecutionResult = { errors: [] }
  const incremental = openIncrementalFigures(registry, buckets)
  /** Runs an operation in a span of its own if its trace is sampled: `query Feed`. */
  const ofOperation = <Result>(request: OperationRequest, work: () => Promise<Result>): Promise<Result> => {
    const above = keptSpan()
    if (!above || isOfOperation(above)) return work()
    const { type, operation } = countedOf(request)
    const { name, facts } = describeOperation(type, operation)
    return finished(above.begin(name, 'internal', { ...facts, client: clientOf(request.viewer) }), work)
  }

  return {
    planned: ms => planning.observe(ms / 1000),
    planStopped: () => stopped.inc(),
    watchEngine: engine => ({
      ...engine,
      async execute(request) {
        const end = begin(request)
        let result = failed
        try {
          result = await ofOperation(request, () => engine.execute(request))
          return result
        } finally {
          end(result)
        }
      },
      ...(engine.executeIncrementally && {
        async executeIncrementally(request: OperationRequest) {
          const [end, began] = [begin(request), now()]
          const { operation } = countedOf(request)
          const measured = { operation, firstAt: () => (now() - began) / 1000, end }
          return incremental.watch(() => ofOperation(request, () => engine.executeIncrementally!(request)), measured)
        },
      }),
      async prepareStream(request) {
        const end = begin(request)
        const prepared = await ofOperation(request, () => engine.prepareStream(request))
        end('start' in prepared ? allowed : prepared)
        const form = request.incremental
        return 'start' in prepared ? watchSubscription(prepared, countErrors, form ? () => incremental.watchEvents(form) : null) : prepared
      },
    }),
    watchTransport(transport) {
      const ofSubgraph = (subgraph: string) => {
        let found = subgraphs.get(subgraph)
        if (!found) {
          found = { took: fetches({ subgraph }), failed: failures.labels({ subgraph }) }
          // The series exists from the first request: a series that appears with its first failure shows no increase.
          failures.inc({ subgraph }, 0)
          subgraphs.set(subgraph, found)
        }
        return found
      }
      return {
        ...transport,
        async fetch(fetch, call) {
          const { took, failed } = ofSubgraph(fetch.subgraph)
          const began = now()
          try {
            return await ofFetch(fetch, () => transport.fetch(fetch, call))
          } catch (error) {
            failed.inc()
            throw error
          } finally {
            took.observe((now() - began) / 1000)
          }
        },
      }
    },
  }
}

const allowed: ExecutionResult = { data: {} }

/** Fetches from a subgraph within a span of its own if the trace is sampled: in one process nothing else attributes the work. */
function ofFetch<Result>({ subgraph, kind }: Fetch, work: () => Promise<Result>): Promise<Result> {
  const above = keptSpan()
  return above ? finished(above.begin(`fetch ${subgraph}`, 'client', { subgraph, 'graphql.operation.type': kind }), work) : work()
}

/**
 * Counts the errors of events, including those of plans that run for a stream.
 * @param watchEvents counts payloads of events; null where events come in one piece
 */
function watchSubscription(
  subscription: LiveSubscription,
  countErrors: (errors: ExecutionResult['errors']) => void,
  watchEvents: (() => EventFigures) | null,
): LiveSubscription {
  return {
    ...subscription,
    async start(signal, inTurn) {
      const stream = await subscription.start(signal, inTurn)
      if (!('isLost' in stream)) {
        countErrors(stream.errors)
        return stream
      }
      const events = watchEvents?.() ?? null
      const watched: LiveStream = {
        async next() {
          const event = await stream.next()
          if (!event.done) {
            if (event.value.answer.errors) countErrors(event.value.answer.errors)
            if (events) countErrors(events.count(event.value.answer))
          }
          return event
        },
        return() {
          events?.end()
          return stream.return()
        },
        isLost: () => stream.isLost(),
        isOver: () => stream.isOver?.() ?? false,
      }
      return watched
    },
  }
}

const ours = new Set(['INTERNAL_SERVER_ERROR', 'UPSTREAM_FAILED'])

function outcomeOf({ data, errors }: Pick<ExecutionResult, 'data' | 'errors'>): Outcome {
  if (!errors) return 'success'
  if (data) return 'partial'
  return errors.length === 0 || errors.some(error => ours.has(publicCodeOf(error))) ? 'failed' : 'refused'
}

/** Counts errors by code. */
function tallied(errors: readonly unknown[]): Record<string, number> {
  const tally: Record<string, number> = {}
  for (const error of errors) {
    const code = publicCodeOf(error)
    tally[code] = (tally[code] ?? 0) + 1
  }
  return tally
}

/**
 * Returns the client program, without its version: a service of ours by its app id, others by the name that they send.
 */
function clientOf(viewer: Viewer): string {
  if (viewer.kind === 'service' && viewer.appId) return viewer.appId
  return productOf(causeNow()?.client)
}

/** Returns the name alone of `curl/8.5.0` or `web@1.2`. @param client as log contexts hold it */
export function productOf(client: string | undefined): string {
  if (!client) return 'unknown'
  const product = /^([\w.-]+)\/[\d.]/.exec(client)?.[1]
  if (product) return product
  const at = client.lastIndexOf('@')
  return at > 0 ? client.slice(0, at) : client
}

const errorsName = 'supergraph_errors_total'

/** Counts an error that a client receives, by its code; used for rejected requests and failed operations alike. */
export type CountError = (error: unknown) => void

export function countErrorsIn(registry: Registry): CountError {
  const counter = (registry.getSingleMetric(errorsName) as Counter | undefined) ?? createErrorCounter(registry)
  return error => counter.inc({ code: publicCodeOf(error) })
}

/**
 * Creates the error counter with a zero for every code: Prometheus sees no increase in a series that begins with its
 * first error.
 */
function createErrorCounter(registry: Registry): Counter {
  const counter = new Counter({ name: errorsName, help: 'Errors that were returned to clients, by code.', labelNames: ['code'], registers: [registry] })
  for (const code of publicCodes) counter.inc({ code }, 0)
  return counter
}
