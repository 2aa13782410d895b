import { isDeepStrictEqual } from 'node:util'
import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import type { Engine, OperationRequest } from '../engine.ts'
import { passedHeaders } from '../transport/propagation.ts'
import { shownHeaders } from './aside.ts'
import { untilAborted } from './leaving.ts'

/** A running query, shared by all callers who requested the same query meanwhile. */
interface Run {
  readonly request: OperationRequest
  readonly result: Promise<ExecutionResult>
  /** Aborts when all callers have left. */
  readonly leaving: AbortController
  waiting: number
}

/** Headers of the client on which an answer depends in any case: its additions, and whether the cache is asked. */
const decisiveHeaders = [...shownHeaders, 'cache-control']

/** Maximum number of running variants of one document to compare a query with; above it, the query runs by itself. */
const mostCompared = 16

/**
 * Answers equal queries of one viewer from one run while that run lasts. A query that is received after a mutation was
 * answered never joins a run that began before it, so that a client reads its own writes.
 * @param passed names of headers that subgraphs receive; queries that differ in them are different
 */
export function deduplicated(engine: Engine, passed: readonly string[]): Engine {
  let running = new Map<DocumentNode, Run[]>()

  const isEqual = (one: OperationRequest, other: OperationRequest): boolean =>
    one.operationName === other.operationName &&
    one.graphVariant === other.graphVariant &&
    one.isOurs === other.isOurs &&
    (one.viewer === other.viewer || isDeepStrictEqual(one.viewer, other.viewer)) &&
    isDeepStrictEqual(one.variables, other.variables) &&
    isDeepStrictEqual(one.browser, other.browser) &&
    isDeepStrictEqual(one.overrides, other.overrides) &&
    decisiveHeaders.every(name => one.headers?.get(name) === other.headers?.get(name)) &&
    (passed.length === 0 || isDeepStrictEqual(passedHeaders(passed, one.headers), passedHeaders(passed, other.headers)))

  const begin = (request: OperationRequest, runs: Run[] | undefined): Run => {
    const { document } = request
    const leaving = new AbortController()
    const run: Run = { request, leaving, waiting: 0, result: engine.execute({ ...request, signal: leaving.signal }) }
    const all = runs ?? []
    const within = running
    all.push(run)
    if (!runs) within.set(document, all)
    const over = () => {
      all.splice(all.indexOf(run), 1)
      if (all.length === 0) within.delete(document)
    }
    run.result.then(over, over)
    return run
  }

  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    // Its payloads are made for one client, so no other one joins it.
    ...(engine.executeIncrementally && {
      async executeIncrementally(request: OperationRequest) {
        const result = await engine.executeIncrementally!(request)
        if (getOperationAST(request.document, request.operationName)?.operation === 'mutation') running = new Map()
        return result
      },
    }),
    async execute(request) {
      const type = getOperationAST(request.document, request.operationName)?.operation
      if (type !== 'query') {
        const result = await engine.execute(request)
        if (type === 'mutation') running = new Map()
        return result
      }
      if (request.signal?.aborted) return engine.execute(request)
      const runs = running.get(request.document)
      const known = runs?.find(run => !run.leaving.signal.aborted && isEqual(run.request, request))
      if (!known && runs && runs.length >= mostCompared) return engine.execute(request)
      return answered(known ?? begin(request, runs), request)
    },
  }
}

/** One caller's wait for a run; the run continues for the others when this caller leaves. */
async function answered(run: Run, request: OperationRequest): Promise<ExecutionResult> {
  const { signal } = request
  run.waiting += 1
  const leave = () => {
    run.waiting -= 1
    if (run.waiting === 0) run.leaving.abort(signal?.reason)
  }
  signal?.addEventListener('abort', leave)
  try {
    return await untilAborted(request, () => run.result)
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}
