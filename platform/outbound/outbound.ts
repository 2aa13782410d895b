import { isIP } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
import { finished, keptSpan } from '../caller/trace.ts'
import { notPublicCode, OutboundFailure } from './failure.ts'
import type { ResolveName } from './names.ts'
import { createNames } from './names.ts'
import { isPublicAddress, onlyPublic } from './public.ts'
import { headersOf, type StreamOptions, type StreamOutbound, streamThrough } from './stream.ts'

/** HTTP to third parties: the platform's only outbound connection. */
export type Outbound = (url: string | URL, options?: OutboundOptions) => Promise<OutboundAnswer>

/** The outbound client of a process: `stream` is for bodies that arrive in pieces, are binary, or are long. */
export type WayOut = Outbound & { readonly stream: StreamOutbound }

export interface OutboundOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Time limit of the whole answer in ms. @default 10000 */
  readonly timeoutMs?: number
  /**
   * Opens a new connection, for calls that must not be repeated: the other side may close a kept-alive connection just
   * as the request is written, and then the caller cannot tell whether it arrived. @default false
   */
  readonly freshConnection?: boolean
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body as text, at most 1 MiB. */
  readonly text: string
}

const largestAnswer = 1024 * 1024

/**
 * Maximum connections to one origin, more than its concurrent calls: a call that waits for a connection would use up
 * its time, and count as sent.
 */
const mostConnections = 128

/**
 * Time in ms that running calls have to end when the client closes, so that a receiver that hangs does not delay the
 * process's end.
 */
const closeMs = 500

/** Maximum concurrent streams of one origin; further ones wait, while their time runs. */
const mostStreams = 2_048

/**
 * Opens connections, and marks every error that occurs before one is established, TLS handshake included: a request is
 * written only then, so nothing of it was sent. Error codes cannot tell: a reset means one thing in a handshake,
 * another after it.
 */
function noteUnsent(unsent: WeakSet<Error>, options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, done) =>
    connect(target, (...[error, socket]) => {
      if (!error) return done(null, socket!)
      unsent.add(error)
      done(error, null)
    })
}

/**
 * Creates the outbound client: one request at a time, no retries, no redirects, time limits on everything.
 * @param allowedOrigins configured origins: only these may have a private address
 * @param resolve        resolves all other names @default by DNS servers
 */
export function createOutbound(allowedOrigins: readonly string[], resolve: ResolveName = createNames()): WayOut & { close(): Promise<void> } {
  const trusted = new Set(allowedOrigins.map(origin => new URL(origin).origin))
  const unsent = new WeakSet<Error>()
  const open = noteUnsent(unsent, { timeout: 5000 })
  const openPublic = noteUnsent(unsent, { timeout: 5000, lookup: onlyPublic(resolve) })
  const agentsOf = (options: Agent.Options) => ({
    trusted: new Agent({ ...options, connect: open }),
    trustedFresh: new Agent({ ...options, pipelining: 0, connect: open }),
    guarded: new Agent({ ...options, connect: openPublic }),
    guardedFresh: new Agent({ ...options, pipelining: 0, connect: openPublic }),
  })
  const agents = agentsOf({ connections: mostConnections })
  // Streams take connections of their own, so they do not block other requests.
  const streaming = agentsOf({ connections: mostStreams })
  /** Returns the target and agent of a call. @throws OutboundFailure for an address that must not be called */
  const wayTo = (url: string | URL, isFresh: boolean) => {
    const target = new URL(url)
    const isTrusted = trusted.has(target.origin)
    const refuse = (why: string) => new OutboundFailure(why, false, { code: notPublicCode })
    if (target.protocol !== 'https:' && target.protocol !== 'http:') throw refuse(`${target.protocol} is not a way to reach a third party`)
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (!isTrusted && isIP(host) && !isPublicAddress(host)) throw refuse(`${target.origin} is not a public address`)
    return { target, way: `${isTrusted ? 'trusted' : 'guarded'}${isFresh ? 'Fresh' : ''}` as const }
  }
  const send = async (
    url: string | URL,
    { method = 'GET', headers = {}, body, timeoutMs = 10_000, freshConnection = false }: OutboundOptions = {},
  ): Promise<OutboundAnswer> => {
    const { target, way } = wayTo(url, freshConnection)
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await request(target, {
        method: method as 'GET',
        headers: { 'user-agent': 'supergraph', ...headers },
        body: body ?? null,
        signal: deadline,
        dispatcher: agents[way],
      })
      const parts: Buffer[] = []
      let size = 0
      for await (const part of answer.body as AsyncIterable<Buffer>) {
        size += part.length
        if (size > largestAnswer) throw new OutboundFailure(`${target.origin} answered with more than ${largestAnswer} bytes`, true)
        parts.push(part)
      }
      return { status: answer.statusCode, headers: headersOf(answer.headers), text: Buffer.concat(parts).toString('utf8') }
    } catch (error) {
      if (error instanceof OutboundFailure) throw error
      const code = (error as { code?: string }).code ?? ''
      const reason = deadline.aborted ? `no answer within ${timeoutMs} ms` : code || (error as Error).message
      throw new OutboundFailure(`${target.origin} could not be asked: ${reason}`, !unsent.has(error as Error), error)
    }
  }
  // Third parties never receive trace headers. A path may contain a secret (a webhook's), so the span names only the origin.
  const inTrace = <Answer extends { readonly status: number }>(method: string | undefined, url: string | URL, work: () => Promise<Answer>) => {
    const above = keptSpan()
    if (!above) return work()
    const verb = method ?? 'GET'
    const { protocol, hostname, port } = new URL(url)
    const facts = { 'http.request.method': verb, 'server.address': hostname, 'server.port': Number(port) || (protocol === 'http:' ? 80 : 443) }
    return finished(above.begin(verb, 'client', facts), work, ({ status }) => ({ 'http.response.status_code': status }))
  }
  return Object.assign((url: string | URL, options?: OutboundOptions) => inTrace(options?.method, url, () => send(url, options)), {
    stream: (url: string | URL, options: StreamOptions = {}) =>
      inTrace(options.method, url, async () => {
        const { target, way } = wayTo(url, options.freshConnection ?? false)
        return await streamThrough(streaming[way], target, options)
      }),
    // A stream may go on for minutes: open streams are cut, as are requests that do not end soon.
    async close() {
      const destroyed = (those: Record<string, Agent>) => Object.values(those).map(agent => agent.destroy(new Error('the way out is closed')))
      const cut = destroyed(streaming)
      const late = Promise.withResolvers<unknown>()
      const timer = setTimeout(() => late.resolve(Promise.all(destroyed(agents))), closeMs)
      await Promise.race([Promise.all([...cut, ...Object.values(agents).map(agent => agent.close())]), late.promise])
      clearTimeout(timer)
    },
  })
}
