import type { QueryPlan } from '@apollo/query-planner'
import type { ExecutionResult, GraphQLFormattedError } from 'graphql'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { isData } from '../../data/merge.ts'
import type { Fetch, FetchCall, Transport } from '../../engine.ts'
import { jsonSafe } from '../../transport/json-safe.ts'
import type { NamedFetch } from '../plan/query-plan.ts'
import { engineData, enginePath, type ShownFetch, type ShownKeys } from '../plan/shown-fetch.ts'
import { inSpan } from '../spans.ts'
import type { GatewayGraphQLRequest, GatewayGraphQLRequestContext, GraphQLDataSource, OpenTelemetryConfig } from '../types.ts'
import { askPlain, isPlain } from './remote.ts'

/** The viewer of one operation of the gateway: carries what data sources are given. */
export interface IncomingViewer extends Viewer {
  readonly requestContext: GatewayGraphQLRequestContext
  /** The names of the plan's fetches, from when there is a plan. */
  names: ReadonlyMap<Fetch, NamedFetch>
  /** The plan, where somebody asked for it. */
  queryPlan?: QueryPlan
}

/**
 * Reaches subgraphs by their data sources.
 * @param sourceOf returns the data source of a subgraph; undefined where it has none
 */
export function createSourceTransport(sourceOf: (subgraph: string) => GraphQLDataSource | undefined, telemetry: OpenTelemetryConfig | undefined): Transport {
  const heads = new WeakMap<ShownFetch, string>()

  async function ask(fetch: Fetch, call: FetchCall): Promise<ExecutionResult> {
    const source = sourceOf(fetch.subgraph)
    if (!source) throw new Error(`Couldn't find service with name "${fetch.subgraph}"`)
    const { requestContext, names } = call.viewer as IncomingViewer
    const named = names.get(fetch)!
    const variables = renamed(call.variables, named.renames)
    const { operationName, path } = named
    const shown = named.shown()
    const { query, document, keys } = shown
    if (isPlain(source)) {
      let head = heads.get(shown)
      const tail = operationName === undefined ? '}' : `,"operationName":${JSON.stringify(operationName)}}`
      if (head === undefined) {
        head = `{"query":${JSON.stringify(query)},"variables":`
        heads.set(shown, head)
      }
      const answer = await askPlain(source, `${head}${JSON.stringify(variables)}${tail}`, requestContext.overallCachePolicy)
      if (!keys) return resultOf(answer)
      return resultOf({ data: engineData(answer.data, keys, 'fresh'), errors: errorsUnder(answer.errors, keys) })
    }
    const request: GatewayGraphQLRequest = { query, variables, ...(operationName !== undefined && { operationName }) }
    const response = await source.process({
      kind: 'incoming operation',
      request,
      incomingRequestContext: requestContext,
      context: requestContext.context,
      document,
      pathInIncomingRequest: [...path],
    })
    // Data sources may answer the same objects again, and dates or bigints.
    return resultOf({ data: engineData(jsonSafe(response.data), keys, 'shared'), errors: errorsUnder(response.errors, keys) })
  }

  return {
    fetch: (fetch, call) =>
      inSpan('gateway.fetch', telemetry, { service: fetch.subgraph }, async span => {
        const result = await ask(fetch, call)
        if (result.errors) tellMetrics(call.viewer as IncomingViewer, fetch.subgraph, result.errors)
        if (result.errors && !isData(result.data)) span.failed(result.errors, telemetry)
        return result
      }),
    async subscribe(fetch, call) {
      const source = sourceOf(fetch.subgraph)
      if (!source) throw new Error(`Couldn't find service with name "${fetch.subgraph}"`)
      const { requestContext, names } = call.viewer as IncomingViewer
      const { query, document, keys } = names.get(fetch)!.shown()
      const variables = renamed(call.variables, names.get(fetch)!.renames)
      const { subscribeAt } = await import('./subscribe.ts')
      return subscribeAt(source, { query, document, variables, requestContext, signal: call.signal }, ({ data, errors }) =>
        resultOf({ data: engineData(jsonSafe(data), keys, 'shared'), errors: errorsUnder(errors, keys) }),
      )
    },
  }
}

/** Reads an answer; one without errors and data is an answer without data. */
function resultOf({ data, errors }: Readonly<Record<string, unknown>>): ExecutionResult {
  const result = { data: isData(data) ? data : null } as ExecutionResult
  return Array.isArray(errors) && errors.length > 0 ? { ...result, errors } : result
}

/** Apollo Server's usage report reads where errors were. */
function tellMetrics({ requestContext: { metrics } }: IncomingViewer, subgraph: string, errors: readonly { readonly path?: unknown }[]): void {
  if (typeof metrics !== 'object' || metrics === null) return
  const paths = errors.map(({ path }) => ({ subgraph, path }))
  metrics.nonFtv1ErrorPaths = [...(metrics.nonFtv1ErrorPaths ?? []), ...paths]
}

function renamed(variables: Readonly<Record<string, unknown>>, names: NamedFetch['renames']): Record<string, unknown> {
  if (!names) return { ...variables }
  const all: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(variables)) all[names.get(name) ?? name] = value
  return all
}

/** The errors of an answer, at the paths of the engine's keys. */
function errorsUnder(errors: unknown, keys: ShownKeys | null): unknown {
  if (!keys || !Array.isArray(errors)) return errors
  return errors.map((error: GraphQLFormattedError) => (Array.isArray(error?.path) ? withPath(error, enginePath(error.path, keys)) : error))
}

/** The same error at another path; it stays what it is, with its prototype. */
const withPath = <Failure extends GraphQLFormattedError>(error: Failure, path: (string | number)[]): Failure =>
  error.path?.every((segment, at) => segment === path[at]) ? error : Object.create(error, { path: { value: path, enumerable: true } })
