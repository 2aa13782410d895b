import { setMaxListeners } from 'node:events'
import type { ExecutionResult } from 'graphql'
import { causeHeaders } from '../../../platform/caller/cause.ts'
import { traceHeaders } from '../../../platform/caller/trace.ts'
import { unheardMs } from '../../../platform/events.ts'
import { browserHeader } from '../../../subgraphs/http/browser.ts'
import { forOperation, sealHeader } from '../../../subgraphs/seal.ts'
import { isData } from '../data/merge.ts'
import type { Fetch, FetchCall, Transport } from '../engine.ts'
import { errorFor } from '../errors.ts'
import { partOf, takeOver, type Work } from '../work.ts'
import { credentialsOf } from './addresses.ts'
import { readAnswer } from './answer.ts'
import { cacheHeaders, withHeaders } from './cache/headers.ts'
import { type Exchange, type HttpAnswer, type HttpQuestion, type Origin, UpstreamFailure } from './exchange.ts'
import { type HeaderRule, passedHeaders, passingTo, viewerKey } from './propagation.ts'
import { createReplicas, openOrigins, type Replicas } from './replicas.ts'
import type { Seal } from './seal.ts'
import type { Callbacks } from './streams/callback.ts'
import { openStreamAgent, subscribeOverHttp } from './streams/http.ts'
import { subscribeOverSocket, unheardHeader } from './streams/socket.ts'

/** Address and options of one subgraph. */
export interface RemoteSubgraph {
  /**
   * GraphQL endpoint over HTTP, of each replica where there are several; subscriptions go to the same addresses, also
   * over WebSocket.
   */
  readonly url: string | readonly string[]
  /** Milliseconds within which an answer must arrive. @default the value for all subgraphs */
  readonly timeoutMs?: number | undefined
  /** How the subgraph is subscribed to. @default graphql-ws */
  readonly subscriptions?: SubscriptionProtocol | undefined
}

/**
 * Protocols of subscriptions at subgraphs: graphql-transport-ws over WebSocket, GraphQL over server-sent events, and
 * Apollo's multipart and HTTP callback protocols.
 */
export type SubscriptionProtocol = 'graphql-ws' | 'sse' | 'multipart' | 'callback'

export interface RemoteOptions {
  /** Subgraphs by their names in the supergraph. */
  readonly subgraphs: ReadonlyMap<string, RemoteSubgraph>
  /** Rules that pass headers of the client to subgraphs. @default none */
  readonly headers?: readonly HeaderRule[] | undefined
  /** Creates the `x-viewer-seal` header that identifies the viewer to a subgraph; without it no viewer is sent. */
  readonly seal?: Seal | undefined
  /**
   * Sends one request for equal queries that run at the same time: same subgraph, text, variables, passed headers, and
   * viewer where one is sealed. @default false
   */
  readonly deduplicate?: boolean | undefined
  /** Milliseconds within which an answer must arrive, connecting and one more attempt included. @default 10000 */
  readonly timeoutMs?: number | undefined
  /** The engine's clock (`EngineOptions.now`). @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
  /** Maximum connections to one origin. @default 64 */
  readonly connections?: number | undefined
  /** Maximum bytes of an answer. @default 32 MiB */
  readonly mostBytes?: number | undefined
  /**
   * Milliseconds between the pings of a subscription; a subgraph that answers none for that long counts as lost.
   * @default 12000
   */
  readonly pingMs?: number | undefined
  /** Takes the events of subgraphs that are subscribed to by callbacks. @default such a subgraph cannot be subscribed to */
  readonly callbacks?: Callbacks | undefined
}

/** A transport that holds connections. */
export interface RemoteTransport extends Transport {
  /** Ends subscriptions and cuts connections. */
  close(): Promise<void>
}

/** Maximum number of requests that wait for a connection to one origin. */
const mostWaiting = 10_000

/** A subgraph with everything that its requests have in common. */
interface Target {
  readonly name: string
  /** Path with query, as sent. */
  readonly path: string
  /** Replicas at which streams begin: streams last, so their load is counted separately. */
  readonly streams: Replicas
  readonly protocol: SubscriptionProtocol
  /** Number of the subgraph's addresses. */
  readonly replicas: number
  readonly origin: Origin
  readonly timeoutMs: number
  readonly passing: readonly string[]
  /** Headers of every request to the subgraph: names and values, alternating. */
  readonly headers: readonly string[]
}

/** Opens the addresses of all subgraphs; those with the same hosts share their connections. */
function openTargets(options: RemoteOptions) {
  const origins = new Map<string, Origin>()
  const targets = new Map<string, Target>()
  for (const [name, { url, timeoutMs, subscriptions: protocol = 'graphql-ws' }] of options.subgraphs) {
    const [address, ...others] = [url].flat().map(each => new URL(each)) as [URL, ...URL[]]
    const { pathname, search } = address
    if (others.some(other => other.pathname !== pathname || other.search !== search))
      throw new Error(`the addresses of "${name}" differ in more than their hosts`)
    const hosts = [address, ...others].map(({ origin }) => origin)
    const { connections = 64, mostBytes = 32 * 1024 * 1024 } = options
    const opened = origins.get(hosts.join()) ?? openOrigins(hosts, { connections, mostWaiting, mostBytes })
    origins.set(hosts.join(), opened)
    const own = credentialsOf(address)
    const passing = passingTo(name, options.headers ?? []).filter(header => !own.includes(header))
    targets.set(name, {
      name,
      path: pathname + search,
      streams: createReplicas(hosts.map(host => `${protocol === 'graphql-ws' ? host.replace(/^http/, 'ws') : host}${pathname}${search}`)),
      protocol,
      replicas: hosts.length,
      origin: opened,
      timeoutMs: timeoutMs ?? options.timeoutMs ?? 10_000,
      passing,
      headers: own,
    })
  }
  return { origins, targets }
}

/**
 * Reaches subgraphs by HTTP, and by WebSocket for subscriptions. After a connection error a fetch is tried once more: a
 * query when no byte of an answer had arrived, a mutation only when nothing had been sent.
 */
export function createRemoteTransport(options: RemoteOptions): RemoteTransport {
  const { seal, deduplicate = false, pingMs = 12_000, now = () => performance.now() } = options
  const { origins, targets } = openTargets(options)
  const heads = new WeakMap<Fetch, string>()
  const shared = new Map<string, SharedExchange>()
  const closing = new AbortController()
  let agent: ReturnType<typeof openStreamAgent> | undefined
  // Every subscription listens to this signal.
  setMaxListeners(0, closing.signal)
  /**
   * Returns the milliseconds for a fetch, or for the start of a stream: its subgraph's limit, or its own where that is
   * longer, and no more than is left of the operation's time.
   */
  const timeoutOf = ({ timeoutMs }: Target, { timeoutMs: longer = 0 }: Fetch, { deadline }: FetchCall): number => {
    const own = Math.max(timeoutMs, longer)
    return deadline === undefined ? own : Math.max(0, Math.min(own, Math.ceil(deadline - now())))
  }

  const targetOf = (fetch: Fetch): Target => {
    const target = targets.get(fetch.subgraph)
    if (!target) throw new Error(`The supergraph names a subgraph "${fetch.subgraph}" that has no address`)
    return target
  }

  const bodyOf = (fetch: Fetch, variables: FetchCall['variables']): string => {
    let head = heads.get(fetch)
    if (head === undefined) {
      head = `{"query":${JSON.stringify(fetch.text)}`
      heads.set(fetch, head)
    }
    for (const _name in variables) return `${head},"variables":${JSON.stringify(variables)}}`
    return `${head}}`
  }

  const ask = (target: Target, fetch: Fetch, call: FetchCall, sealed: string | null, arrives: Arrives): Exchange => {
    const passed = target.passing.length > 0 ? passedHeaders(target.passing, call.headers) : none
    const body = bodyOf(fetch, call.variables)
    const headers = [...common, 'x-request-id', call.requestId, ...target.headers, ...passed]
    if (sealed !== null) headers.push(sealHeader, sealed, ...causeHeaders())
    else headers.push(...traceHeaders())
    if (sealed !== null && call.browser && fetch.kind === 'mutation') headers.push(browserHeader, call.browser.fingerprint)
    const question = { path: target.path, headers, body, arrives, reads: call.operation.caching && !seal ? cacheHeaders : undefined }
    if (!deduplicate || fetch.kind !== 'query') return target.origin.ask(question)
    const key = JSON.stringify([target.name, sealed === null ? '' : viewerKey(call.viewer), ...passed, body, question.reads !== undefined])
    return join(shared, key, target, question)
  }

  return {
    passed: [...new Set([...targets.values()].flatMap(({ passing }) => passing))],
    // Subgraphs that accept seals are our own: the schema alone says how long their answers may be kept.
    readsCacheHeaders: !seal,
    async fetch(fetch, call) {
      const target = targetOf(fetch)
      const sealed = seal ? await seal(call.viewer, target.name, forOperation) : null
      const { signal } = call
      if (signal?.aborted) return left
      const patience = timeoutOf(target, fetch, call)
      // If it were sent now, a mutation would be executed and reported as failed.
      if (patience === 0) throw new UpstreamFailure('unsent', 'The time of the operation was up before it was asked')
      return answerOf(fetch, call, patience, arrives => ask(target, fetch, call, sealed, arrives))
    },
    async subscribe(fetch, call) {
      const target = targetOf(fetch)
      const sealed = seal ? await seal(call.viewer, target.name, forOperation) : null
      let begun = 0
      // If one of several replicas does not answer, there is time to try another.
      const patience = () => timeoutOf(target, fetch, call) / (++begun < target.replicas ? 2 : 1)
      try {
        const begin = (url: string) => {
          const start = {
            url,
            payload: { query: fetch.text, variables: { ...call.variables } },
            headers: [
              ...['x-request-id', call.requestId],
              ...target.headers,
              ...passedHeaders(target.passing, call.headers),
              ...(sealed === null ? traceHeaders() : [sealHeader, sealed, ...unheardHeaders(pingMs), ...causeHeaders()]),
            ],
            timeoutMs: Math.ceil(patience()),
            signal: closing.signal,
            leaving: call.signal,
          }
          if (target.protocol !== 'graphql-ws') {
            agent ??= openStreamAgent(pingMs)
            const overHttp = { ...start, dispatcher: agent }
            return target.protocol === 'callback' ? callbacksOf(options).subscribe(overHttp) : subscribeOverHttp({ ...overHttp, form: target.protocol })
          }
          return subscribeOverSocket({
            ...start,
            pingMs,
            // Later events are fetched with fresh seals: the one of the start expires after a minute.
            answer: asked =>
              seal && isData(asked) && sealHeader in asked ? seal(call.viewer, target.name, forOperation).then(made => ({ [sealHeader]: made })) : null,
            // Subgraphs that accept seals are our own programs, which support this.
            reportsStart: Boolean(seal),
          })
        }
        // A subscription changes nothing, so any failure may be retried at another replica.
        return await target.streams.ask(
          begin,
          failure => failure instanceof UpstreamFailure && failure.stage !== 'answered' && !call.signal?.aborted && timeoutOf(target, fetch, call) > 0,
        )
      } catch (failure) {
        if (call.signal?.aborted) return left
        throw failure
      }
    },
    async close() {
      closing.abort()
      await Promise.all([...[...origins.values()].map(origin => origin.close()), agent?.destroy()])
    },
  }
}

/**
 * Waits for the answer of one fetch, and sends it once more where that is safe.
 * @param patience in milliseconds, for both attempts
 */
async function answerOf(fetch: Fetch, call: FetchCall, patience: number, ask: (arrives: Arrives) => Exchange): Promise<ExecutionResult> {
  const { signal } = call
  let exchange: Exchange | null = null
  let ended: Error | null = null
  const end = (failure: Error) => {
    ended = failure
    exchange?.cancel(failure)
  }
  const timer = setTimeout(() => end(new UpstreamFailure('late', `No answer within ${patience} ms`)), patience)
  const leave = () => end(gone)
  signal?.addEventListener('abort', leave)
  const holder = holderOf(fetch, call)
  const answered = async () => {
    let held = 0
    try {
      exchange = ask(bytes => {
        held += bytes
        try {
          holder.holds(bytes)
        } catch (tooMuch) {
          end(tooMuch as Error)
        }
      })
      // The part of a shared answer that arrived before may already exceed the limit.
      if (ended) exchange.cancel(ended)
      const answer = await exchange.answer
      const { length } = answer.text
      // The bytes read so far stay counted. Assumes one byte per character, which holds for ASCII.
      const keeps = held === length ? length : 2 * length
      holder.holds(keeps - held)
      held = keeps
      return withHeaders(readAnswer(answer), answer)
    } catch (failure) {
      holder.holds(-held)
      throw failure
    }
  }
  try {
    return await answered()
  } catch (failure) {
    if (ended === gone) return left
    if (ended || !mayRepeat(failure, fetch.kind)) throw failure
    try {
      return await answered()
    } catch (second) {
      if ((ended as Error | null) === gone) return left
      throw second
    }
  } finally {
    if (holder !== call.operation) takeOver(call.operation, holder)
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

function callbacksOf({ callbacks }: RemoteOptions): Callbacks {
  if (!callbacks) throw new UpstreamFailure('unsent', 'Nothing here takes callbacks')
  return callbacks
}

/** Receives the number of bytes of an answer that have arrived. */
type Arrives = NonNullable<HttpQuestion['arrives']>

/**
 * Returns the work that an answer's bytes count for. A mutation's answer is accepted whatever else its caller has in
 * progress, because the mutation has been done.
 */
function holderOf({ kind }: Fetch, { operation }: FetchCall): Work {
  if (kind !== 'mutation') return operation
  const part = partOf(operation, undefined, undefined)
  part.guaranteedBytes = Number.POSITIVE_INFINITY
  return part
}

const common = ['content-type', 'application/json', 'accept', 'application/graphql-response+json, application/json;q=0.9'] as const
const none: readonly string[] = []

/**
 * Header that says how long the subscribers have received nothing, for a stream that replaces a broken one: a silent
 * connection is detected by the second ping.
 */
function unheardHeaders(pingMs: number): readonly string[] {
  const ms = unheardMs()
  return ms === undefined ? none : [unheardHeader, String(Math.round(ms + 2 * pingMs))]
}

const gone = new UpstreamFailure('late', 'The client left')
/** Result for a caller who left: nobody reads it, and its form is not logged as a failure. */
const left: ExecutionResult = { errors: [errorFor('UPSTREAM_FAILED', 'The operation was ended before it was answered.')] }

function mayRepeat(failure: unknown, kind: Fetch['kind']): boolean {
  if (!(failure instanceof UpstreamFailure)) return false
  return failure.stage === 'unsent' || (failure.stage === 'cut' && kind === 'query')
}

/** One HTTP request that several fetches wait for. */
interface SharedExchange {
  readonly exchange: Exchange
  /** Listeners of the fetches that wait. */
  readonly waiting: Set<Arrives>
  /** Bytes that have arrived. */
  arrived: number
}

/**
 * Joins an equal request in progress, or sends it; when the last waiting fetch leaves, the request ends. Callers share
 * the text of an answer, and each parses its own copy.
 */
function join(shared: Map<string, SharedExchange>, key: string, target: Target, question: HttpQuestion & { readonly arrives: Arrives }): Exchange {
  const { arrives } = question
  const found = shared.get(key) ?? begin(shared, key, target, question)
  // Wraps the callback, because the same one may wait twice.
  const mine: Arrives = bytes => arrives(bytes)
  found.waiting.add(mine)
  if (found.arrived > 0) mine(found.arrived)
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  found.exchange.answer.then(resolve, reject)
  return {
    answer: promise,
    cancel(failure) {
      if (!found.waiting.delete(mine)) return
      reject(failure)
      if (found.waiting.size > 0) return
      if (shared.get(key) === found) shared.delete(key)
      found.exchange.cancel(failure)
    },
  }
}

function begin(shared: Map<string, SharedExchange>, key: string, target: Target, question: HttpQuestion): SharedExchange {
  const waiting = new Set<Arrives>()
  const arrives: Arrives = bytes => {
    begun.arrived += bytes
    for (const each of [...waiting]) each(bytes)
  }
  const begun: SharedExchange = { exchange: target.origin.ask({ ...question, arrives }), waiting, arrived: 0 }
  shared.set(key, begun)
  const forget = () => {
    if (shared.get(key) === begun) shared.delete(key)
  }
  begun.exchange.answer.then(forget, forget)
  return begun
}
