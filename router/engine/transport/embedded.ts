import { createSourceEventStream, type ExecutionResult, GraphQLError } from 'graphql'
import { causeNow, doFor } from '../../../platform/caller/cause.ts'
import type { Subgraph } from '../../../subgraphs/subgraph.ts'
import type { Fetch, FetchCall, ResultStream, Transport } from '../engine.ts'
import { errorFor, TooMuch } from '../errors.ts'
import { abandon, finish, partOf, releaseWork, takeOver, type Work, whyOver, workLimits } from '../work.ts'
import { UpstreamFailure } from './exchange.ts'
import { workWith } from './lists.ts'
import { createRunner } from './runner.ts'
import { mapStream } from './streams/map.ts'

/**
 * Reaches subgraphs by a call in this process. Resolvers share one context per client operation and subgraph, because
 * it holds the loaders; every mutation, every read after a mutation and every event of a subscription gets a fresh one,
 * so that no loader returns outdated values.
 * @param subgraphs by their names in the supergraph
 * @param now       the engine's clock (`EngineOptions.now`)
 */
export function createEmbeddedTransport(subgraphs: ReadonlyMap<string, Subgraph>, now: () => number = () => performance.now()): Transport {
  const runners = new Map([...subgraphs].map(([name, { schema }]) => [name, createRunner(schema)]))

  const subgraphOf = (fetch: Fetch): Subgraph => {
    const subgraph = subgraphs.get(fetch.subgraph)
    if (!subgraph) throw new Error(`The supergraph names a subgraph "${fetch.subgraph}" that does not run in this process`)
    return subgraph
  }

  const open = (subgraph: Subgraph, { viewer }: FetchCall, work: Work): object => workWith(subgraph.open(viewer, work), work)

  const contextOf = (subgraph: Subgraph, fetch: Fetch, call: FetchCall): object => {
    const work = call.operation
    work.contexts ??= new Map()
    let context = work.contexts.get(fetch.subgraph)
    if (!context) {
      context = open(subgraph, call, work)
      work.contexts.set(fetch.subgraph, context)
    }
    return context
  }

  const run = async (fetch: Fetch, call: FetchCall, work: Work, context: object, rootValue?: unknown): Promise<ExecutionResult> => {
    const over = whyOver(work)
    if (over) throw over instanceof TooMuch ? over : new UpstreamFailure('unsent', over.message)
    const running = runners.get(fetch.subgraph)!(fetch)(context, call.variables, rootValue)
    let result: ExecutionResult
    try {
      result = await inTime(running, call.deadline, now)
    } catch (late) {
      const end = () => finish(work)
      if (work.deadline !== undefined) abandon(work)
      // Work that continues keeps its claim on memory.
      else Promise.resolve(running).then(end, end)
      throw late
    }
    if (work.ended instanceof TooMuch) throw work.ended
    return coded(result)
  }

  return {
    async fetch(fetch, call) {
      const subgraph = subgraphOf(fetch)
      if (fetch.kind !== 'mutation') return run(fetch, call, call.operation, contextOf(subgraph, fetch, call))
      call.operation.contexts = null
      try {
        // A mutation that has begun is completed even if the client leaves: its context never reports that nobody waits.
        const whole = partOf(call.operation, undefined, undefined)
        whole.guaranteedBytes = workLimits.mutationBytes
        whole.browser = call.browser
        const result = await run(fetch, call, whole, open(subgraph, call, whole))
        takeOver(call.operation, whole)
        return whole.replayed ? { ...result, extensions: { replayed: whole.replayed } } : result
      } finally {
        call.operation.contexts = null
      }
    },
    async subscribe(fetch, call): Promise<ResultStream | ExecutionResult> {
      const subgraph = subgraphOf(fetch)
      // Lasts as long as the stream, beyond the deadline of its start.
      const streaming = partOf(call.operation, call.signal, undefined)
      const starting = createSourceEventStream({
        schema: subgraph.schema,
        document: fetch.document,
        contextValue: open(subgraph, call, streaming),
        variableValues: call.variables,
      })
      let source: Awaited<typeof starting>
      try {
        source = await inTime(starting, call.deadline, now)
      } catch (late) {
        abandon(streaming)
        // If it started now, it would keep its listeners although nobody reads them.
        starting.then(begun => (Symbol.asyncIterator in begun ? begun[Symbol.asyncIterator]().return?.() : undefined)).catch(() => {})
        throw late
      }
      if (!(Symbol.asyncIterator in source)) {
        finish(streaming)
        return coded(source)
      }
      // The call's deadline passes soon after the start; an event may arrive at any time.
      // The announcing code is in the middle of other work, so the event is handled in a later turn.
      const cause = causeNow() ?? null
      const runEvent = (event: unknown) => doFor(cause, () => answerEvent(event))
      const answerEvent = async (event: unknown) => {
        const deadline = call.eventMs === undefined ? undefined : now() + call.eventMs
        const work = partOf(call.operation, streaming.signal, deadline)
        try {
          const result = await run(fetch, { ...call, deadline }, work, open(subgraph, call, work), event)
          takeOver(streaming, work)
          return result
        } catch (cause) {
          return failedEvent(cause)
        } finally {
          finish(work)
        }
      }
      let lost = false
      const stream = mapStream(
        source[Symbol.asyncIterator](),
        event => (call.inTurn ? call.inTurn(() => runEvent(event)) : runEvent(event)),
        (cause): ExecutionResult => {
          lost = true
          return { errors: [new GraphQLError('The events ended with an error', { originalError: cause instanceof Error ? cause : new Error(String(cause)) })] }
        },
        () => abandon(streaming),
      )
      const { next } = stream
      return Object.assign(stream, {
        isLost: () => lost,
        next() {
          // The former event has been delivered.
          releaseWork(streaming)
          return next()
        },
      })
    },
  }
}

const failedEvent = (cause: unknown): ExecutionResult => ({
  errors: [
    cause instanceof UpstreamFailure
      ? errorFor('UPSTREAM_FAILED', 'The service did not answer this event in time.')
      : cause instanceof TooMuch
        ? errorFor(cause.code, cause.message, undefined, cause.extensions)
        : new GraphQLError('The event could not be worked out', { originalError: cause instanceof Error ? cause : new Error(String(cause)) }),
  ],
})

/**
 * Rejects when the time limit passes. Work that continues is abandoned: it starts nothing more, but finishes what it
 * has begun in a database.
 */
function inTime<Result>(result: Result | Promise<Result>, deadline: number | undefined, now: () => number): Result | Promise<Result> {
  if (deadline === undefined || !(result instanceof Promise)) return result
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UpstreamFailure('late', 'The time of the operation is up')), Math.max(0, deadline - now()))
    result.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Adds codes to errors about a client's mistakes, to which graphql-js gives none. */
function coded(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result
  // Without data nothing was executed, and for a valid document only its variables can be the reason.
  const refusedVariables = result.data === undefined
  return { ...result, errors: result.errors.map(error => (refusedVariables || isArgumentError(error) ? withCode(error) : error)) }
}

/**
 * Whether graphql-js could not read an argument: such an error points at the argument's value, all others at a field.
 */
function isArgumentError(error: GraphQLError): boolean {
  const cause = error.originalError
  return (
    cause instanceof GraphQLError && cause.extensions.code === undefined && (cause.nodes?.[0]?.kind.endsWith('Value') || cause.nodes?.[0]?.kind === 'Variable')
  )
}

const withCode = (error: GraphQLError) =>
  error.extensions.code === undefined
    ? new GraphQLError(error.message, { path: error.path, originalError: error, extensions: { ...error.extensions, code: 'BAD_USER_INPUT' } })
    : error
