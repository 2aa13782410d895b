import { createSourceEventStream, type ExecutionResult, GraphQLError } from 'graphql'
import type { Subgraph } from '../../../subgraphs/subgraph.ts'
import type { Fetch, FetchCall, ResultStream, Transport } from '../engine.ts'
import { errorFor } from '../errors.ts'
import { UpstreamFailure } from './exchange.ts'
import { createRunner } from './runner.ts'
import { mapStream } from './stream.ts'

/**
 * Reaches subgraphs by a call in this process. Resolvers get one context per client operation and subgraph, because it holds
 * the loaders; but a fresh one for every mutation, for what is read after a mutation, and for every event of a subscription,
 * so that no loader answers with what was true before.
 * @param subgraphs by their names in the supergraph
 * @param now       the engine's clock (`EngineOptions.now`)
 */
export function createEmbeddedTransport(subgraphs: ReadonlyMap<string, Subgraph>, now: () => number = () => performance.now()): Transport {
  const contexts = new WeakMap<object, Map<string, object>>()
  const runners = new Map([...subgraphs].map(([name, { schema }]) => [name, createRunner(schema)]))

  const subgraphOf = (fetch: Fetch): Subgraph => {
    const subgraph = subgraphs.get(fetch.subgraph)
    if (!subgraph) throw new Error(`The supergraph names a subgraph "${fetch.subgraph}" that does not run in this process`)
    return subgraph
  }

  const contextOf = (subgraph: Subgraph, fetch: Fetch, call: FetchCall): object => {
    const opened = contexts.get(call.operation) ?? new Map<string, object>()
    contexts.set(call.operation, opened)
    const context = opened.get(fetch.subgraph) ?? subgraph.open(call.viewer, call)
    opened.set(fetch.subgraph, context)
    return context
  }

  const run = async (fetch: Fetch, call: FetchCall, context: object, rootValue?: unknown): Promise<ExecutionResult> =>
    coded(await inTime(runners.get(fetch.subgraph)!(fetch)(context, call.variables, rootValue), call.deadline, now))

  return {
    async fetch(fetch, call) {
      const subgraph = subgraphOf(fetch)
      if (fetch.kind !== 'mutation') return run(fetch, call, contextOf(subgraph, fetch, call))
      contexts.delete(call.operation)
      try {
        return await run(fetch, call, subgraph.open(call.viewer, call))
      } finally {
        contexts.delete(call.operation)
      }
    },
    async subscribe(fetch, call): Promise<ResultStream | ExecutionResult> {
      const subgraph = subgraphOf(fetch)
      const starting = createSourceEventStream({
        schema: subgraph.schema,
        document: fetch.document,
        contextValue: subgraph.open(call.viewer, call),
        variableValues: call.variables,
      })
      let source: Awaited<typeof starting>
      try {
        source = await inTime(starting, call.deadline, now)
      } catch (late) {
        // Begun after all, it would keep its listeners for nobody.
        starting.then(begun => (Symbol.asyncIterator in begun ? begun[Symbol.asyncIterator]().return?.() : undefined)).catch(() => {})
        throw late
      }
      if (!(Symbol.asyncIterator in source)) return coded(source)
      // The deadline of the call is over soon after the start; an event may come at any time.
      const runEvent = (event: unknown) => {
        const ofEvent = { ...call, operation: {}, deadline: call.eventMs === undefined ? undefined : now() + call.eventMs }
        return run(fetch, ofEvent, subgraph.open(call.viewer, ofEvent), event)
      }
      return mapStream(
        source[Symbol.asyncIterator](),
        event => runEvent(event).catch(failedEvent),
        cause => ({
          errors: [new GraphQLError('The events ended with an error', { originalError: cause instanceof Error ? cause : new Error(String(cause)) })],
        }),
      )
    },
  }
}

const failedEvent = (cause: unknown): ExecutionResult => ({
  errors: [
    cause instanceof UpstreamFailure
      ? errorFor('UPSTREAM_FAILED', 'The service did not answer this event in time.')
      : new GraphQLError('The event could not be worked out', { originalError: cause instanceof Error ? cause : new Error(String(cause)) }),
  ],
})

/** What runs on after the time is up is nobody's any more: what it has begun in a database, it finishes. */
function inTime<Result>(result: Result | Promise<Result>, deadline: number | undefined, now: () => number): Result | Promise<Result> {
  if (deadline === undefined || !(result instanceof Promise)) return result
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UpstreamFailure('late', 'The time of the operation is up')), Math.max(0, deadline - now()))
    result.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** What a client wrote wrong says so, though graphql-js gives it no code. */
function coded(result: ExecutionResult): ExecutionResult {
  if (!result.errors) return result
  // Without data nothing was executed, and for a valid document only its variables can be the reason.
  const refusedVariables = result.data === undefined
  return { ...result, errors: result.errors.map(error => (refusedVariables || isArgumentError(error) ? withCode(error) : error)) }
}

/** Whether graphql-js could not read an argument: then the error points at the argument's value, others at a field. */
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
