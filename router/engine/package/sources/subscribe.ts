import { type DocumentNode, type ExecutionResult, subscribe } from 'graphql'
import type { ResultStream } from '../../engine.ts'
import { mapStream } from '../../transport/streams/map.ts'
import { optional } from '../host/optional.ts'
import type { GatewayGraphQLRequest, GatewayGraphQLRequestContext, GraphQLDataSource } from '../types.ts'
import { LocalGraphQLDataSource } from './local.ts'
import { RemoteGraphQLDataSource } from './remote.ts'

interface Subscribing {
  readonly query: string
  readonly document: DocumentNode
  readonly variables: Record<string, unknown>
  readonly requestContext: GatewayGraphQLRequestContext
  /** Aborts when the client has left. */
  readonly signal: AbortSignal | undefined
}

/** Milliseconds within which a subgraph takes a connection, and between the pings of one. */
const limits = { timeoutMs: 10_000, pingMs: 12_000 }

/**
 * Subscribes at a data source: at a schema in this process, or by graphql-transport-ws at the address of one that is
 * reached over HTTP. Its `willSendRequest` sets the headers of the connection.
 * @param read reads each result
 * @throws Error where the packages for that are not installed, or the data source has no subscriptions
 */
export async function subscribeAt(
  source: GraphQLDataSource,
  subscribing: Subscribing,
  read: (result: ExecutionResult) => ExecutionResult,
): Promise<ResultStream | ExecutionResult> {
  const begun = await begin(source, subscribing)
  if (!(Symbol.asyncIterator in begun)) return read(begun)
  const failed = (cause: unknown): ExecutionResult => ({ errors: [cause as never] })
  const stream = mapStream<ExecutionResult, ExecutionResult>(begun[Symbol.asyncIterator](), async result => read(result), failed)
  return Object.assign(stream, { isLost: () => (begun as ResultStream).isLost?.() ?? false, isOver: () => (begun as ResultStream).isOver?.() ?? false })
}

async function begin(source: GraphQLDataSource, { query, document, variables, requestContext, signal }: Subscribing) {
  const { context } = requestContext
  if (source instanceof LocalGraphQLDataSource) return subscribe({ schema: source.schema, document, variableValues: variables, contextValue: context })
  if (!(source instanceof RemoteGraphQLDataSource)) throw new Error('This data source has no subscriptions: they need one that is local, or reached over HTTP')
  for (const name of ['ws', 'graphql-ws'])
    if (!optional(name)) throw new Error(`Subscriptions of subgraphs need the packages ws and graphql-ws: install them with \`npm install ws graphql-ws\`.`)
  const { subscribeOverSocket } = await import('../../transport/streams/socket.ts')
  const headers = new Headers()
  const request: GatewayGraphQLRequest = { query, variables, http: { method: 'POST', url: source.url, headers } }
  await source.willSendRequest?.({ kind: 'incoming operation', request, incomingRequestContext: requestContext, context, document, pathInIncomingRequest: [] })
  return subscribeOverSocket({
    url: source.url.replace(/^http/, 'ws'),
    payload: { query: request.query!, variables: request.variables ?? {} },
    headers: [...(request.http?.headers ?? headers)].flat(),
    ...limits,
    signal: signal ?? new AbortController().signal,
    leaving: signal,
  })
}
