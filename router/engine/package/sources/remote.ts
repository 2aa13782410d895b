import { createHash } from 'node:crypto'
import { GraphQLError } from 'graphql'
import { isData } from '../../data/merge.ts'
import type {
  Fetcher,
  FetcherResponse,
  FetchRequest,
  GatewayGraphQLRequest,
  GatewayGraphQLRequestContext,
  GatewayGraphQLResponse,
  GraphQLDataSource,
  GraphQLDataSourceProcessOptions,
} from '../types.ts'
import { restrict } from './cache-control.ts'
import { type PlainAnswer, plainFetcher, readJson, send } from './http-request.ts'

/**
 * A subgraph that is reached over HTTP. One without hooks, a fetcher of its own and persisted queries is asked directly,
 * without the objects that hooks would see.
 */
// biome-ignore-start lint/suspicious/noExplicitAny: contexts of users
export class RemoteGraphQLDataSource<TContext extends Record<string, any> = Record<string, any>> implements GraphQLDataSource<TContext> {
  /** Sends requests. @default over kept connections */
  fetcher: Fetcher
  declare url: string
  /** Whether a hash is sent first, and the text of an operation only to a subgraph that does not know it. */
  apq = false
  /** Whether the header `cache-control` of answers restricts how long the whole answer may be kept. */
  honorSubgraphCacheControlHeader = true

  constructor(config?: Partial<RemoteGraphQLDataSource<TContext>> & object & ThisType<RemoteGraphQLDataSource<TContext>>) {
    this.fetcher = plainFetcher
    if (config) Object.assign(this, config)
  }

  async process(options: GraphQLDataSourceProcessOptions<TContext>): Promise<GatewayGraphQLResponse> {
    const { request } = options
    const context = options.context as TContext
    const headers = new Headers()
    for (const [name, value] of request.http?.headers ?? []) headers.append(name, value)
    headers.set('content-type', 'application/json')
    request.http = { method: 'POST', url: this.url, headers }
    await this.willSendRequest?.(options)
    if (!request.query) throw new Error('Missing query')
    const { query, ...rest } = request
    const isIncoming = options.kind === 'incoming operation'
    const following = { context, policy: isIncoming && this.honorSubgraphCacheControlHeader ? options.incomingRequestContext.overallCachePolicy : null }
    const at = isIncoming ? options.pathInIncomingRequest : undefined
    if (this.apq) {
      const sha256Hash = createHash('sha256').update(query).digest('hex')
      rest.extensions = { ...request.extensions, persistedQuery: { version: 1, sha256Hash } }
      const response = await sendBy(this, rest, context)
      if (!response.errors?.some(({ message }) => message === 'PersistedQueryNotFound')) return respond(this, { response, request: rest, at, ...following })
    }
    const whole: GatewayGraphQLRequest = { query, ...rest }
    return respond(this, { response: await sendBy(this, whole, context), request: whole, at, ...following })
  }

  /** Called before a request is sent; it may change `request`. */
  willSendRequest?(options: GraphQLDataSourceProcessOptions<TContext>): void | Promise<void>

  /** Called with each answer; what it returns takes its place. */
  didReceiveResponse?(
    requestContext: Required<Pick<GatewayGraphQLRequestContext<TContext>, 'request' | 'response' | 'context'>> & {
      pathInIncomingRequest?: (string | number)[] | undefined
    },
  ): GatewayGraphQLResponse | Promise<GatewayGraphQLResponse>

  /** Called with each error of a request. It throws the error; whatever it does, the request has failed. */
  didEncounterError(error: Error, _fetchRequest: FetchRequest, _fetchResponse?: FetcherResponse, _context?: TContext, _request?: GatewayGraphQLRequest): void {
    throw error
  }

  /** Reads a body: JSON by its media type, else as text. */
  parseBody(fetchResponse: FetcherResponse, _fetchRequest?: FetchRequest, _context?: TContext): Promise<object | string> {
    return isJson(fetchResponse.headers.get('content-type')) ? fetchResponse.json() : fetchResponse.text()
  }

  /** Makes the error for an answer whose status is no success. */
  async errorFromResponse(response: FetcherResponse): Promise<GraphQLError> {
    const { url, status, statusText } = response
    return errorOf({ url, status, statusText, body: await this.parseBody(response) })
  }
}
// biome-ignore-end lint/suspicious/noExplicitAny: as above

const isJson = (type: string | null | undefined): boolean => /^application\/(?:graphql-response\+)?json/.test(type ?? '')

interface Refusal {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly body: unknown
}

function errorOf(response: Refusal): GraphQLError {
  const { status, statusText } = response
  const code = status === 401 ? 'UNAUTHENTICATED' : status === 403 ? 'FORBIDDEN' : null
  return new GraphQLError(`${status}: ${statusText}`, { extensions: { response, ...(code && { code }) } })
}

type Source = RemoteGraphQLDataSource

/** @throws what `didEncounterError` throws, else the error itself */
async function sendBy(source: Source, request: GatewayGraphQLRequest, context: Record<string, unknown>): Promise<GatewayGraphQLResponse> {
  const { http, ...body } = request
  const { url, method, headers } = http!
  const init = { method, headers: Object.fromEntries(headers), body: JSON.stringify(body) }
  const shown: FetchRequest = new Request(url, { method, headers: init.headers, ...(method !== 'GET' && method !== 'HEAD' && { body: init.body }) })
  let response: FetcherResponse | undefined
  try {
    response = await source.fetcher(url, init)
    if (!response.ok) throw await source.errorFromResponse(response)
    const read = await source.parseBody(response, shown, context)
    if (!isObject(read)) throw new Error(`Expected JSON response body, but received: ${read}`)
    return { ...read, http: response }
  } catch (error) {
    source.didEncounterError(error as Error, shown, response, context, request)
    throw error
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

interface Arrived {
  readonly response: GatewayGraphQLResponse
  readonly request: GatewayGraphQLRequest
  readonly context: Record<string, unknown>
  readonly policy: unknown
  readonly at: (string | number)[] | undefined
}

async function respond(source: Source, { response, request, context, policy, at }: Arrived): Promise<GatewayGraphQLResponse> {
  const given =
    typeof source.didReceiveResponse === 'function' ? await source.didReceiveResponse({ response, request, context, pathInIncomingRequest: at }) : response
  restrict(policy, response.http?.headers.get('cache-control'))
  return given
}

const { process, didEncounterError, parseBody, errorFromResponse } = RemoteGraphQLDataSource.prototype

/** Whether nobody watches or changes what a data source does. */
export const isPlain = (source: GraphQLDataSource): source is Source =>
  source instanceof RemoteGraphQLDataSource &&
  source.fetcher === plainFetcher &&
  !source.apq &&
  !source.willSendRequest &&
  !source.didReceiveResponse &&
  source.process === process &&
  source.didEncounterError === didEncounterError &&
  source.parseBody === parseBody &&
  source.errorFromResponse === errorFromResponse

/**
 * Asks a plain data source directly.
 * @param policy the policy of the whole answer
 * @throws Error as `process` would
 */
export async function askPlain(source: Source, body: string, policy: unknown): Promise<Record<string, unknown>> {
  const { url } = source
  const answer = await send(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { status, statusText, headers } = answer
  if (status >= 300 && status < 400 && headers.location) {
    const followed = await plainFetcher(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    if (!followed.ok) throw await source.errorFromResponse(followed)
    return accepted(await source.parseBody(followed))
  }
  const read = readBody(url, answer)
  if (status < 200 || status > 299) throw errorOf({ url, status, statusText, body: read })
  const result = accepted(read)
  if (source.honorSubgraphCacheControlHeader) restrict(policy, headers['cache-control'])
  return result
}

const readBody = (url: string, { headers, text }: PlainAnswer): unknown => (isJson(headers['content-type']) ? readJson(url, text) : text)

function accepted(body: unknown): Record<string, unknown> {
  if (!isData(body)) throw new Error(`Expected JSON response body, but received: ${body}`)
  return body
}
