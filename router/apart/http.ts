import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { addressHeader } from '../../platform/caller/cause.ts'
import { DomainError } from '../../platform/errors.ts'
import { streamedResponse } from '../../subgraphs/http/streamed.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { forForward, forStream, sealHeader } from '../../subgraphs/seal.ts'
import { UpstreamFailure } from '../engine/transport/exchange.ts'
import { createReplicas, notReadyHeader } from '../engine/transport/replicas.ts'
import type { Seal } from '../engine/transport/seal.ts'
import type { ForwardTarget } from '../rest/forward.ts'

/**
 * Methods whose requests may be repeated when their connection broke, because they change nothing (RFC 9110 §9.2.1).
 */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Error codes that mean that no connection was established. */
const neverSent: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/**
 * Wraps a body that is streamed: until its first byte was read, the request may go to another replica.
 * @param length in bytes, by its header; null where only the first piece shows whether there is a body
 * @returns null for an empty body: it is sent and sealed as none
 */
async function passed(body: ReadableStream<Uint8Array>, length: string | null) {
  if (length !== null && Number(length) === 0) return null
  const rest = body[Symbol.asyncIterator]()
  const first = length === null ? await rest.next() : null
  if (first?.done) return null
  const state = { hasBegun: false }
  const pieces = {
    async *[Symbol.asyncIterator]() {
      state.hasBegun = true
      if (first) yield first.value
      yield* { [Symbol.asyncIterator]: () => rest }
    },
  }
  return Object.assign(state, { pieces: pieces as unknown as Readable })
}

/**
 * Forwards requests to a subgraph in another process: the request goes to the process unchanged, with the viewer sealed
 * for this method, target, caller's address and body.
 * @param usualPatienceMs default milliseconds until the headers of an answer must arrive, waiting for a connection
 * included; its body may
 *   stream for as long as data flows
 * @throws DomainError UPSTREAM_FAILED when the process cannot be reached
 */
export function createRemoteTarget(slug: Slug, urls: readonly string[], seal: Seal, dispatcher: Dispatcher, usualPatienceMs = 30_000): ForwardTarget {
  const replicas = createReplicas(urls.map(url => new URL(url).origin))
  return {
    registration: { slug },
    async http(request, viewer, target, { timeoutMs = usualPatienceMs, streams } = {}) {
      const stream = streams && request.body ? await passed(request.body, request.headers.get('content-length')) : null
      const body = request.body && !streams ? Buffer.from(await request.arrayBuffer()) : null
      const head = { method: request.method, target, address: request.headers.get(addressHeader) ?? '' }
      const sealed = await seal(viewer, slug, stream ? forStream(head) : forForward(head, body ?? ''))
      const headers: Record<string, string> = { ...Object.fromEntries(request.headers), [sealHeader]: sealed }
      // These headers name the client's host, describe a body that is re-encoded, or belong to a proxy before us.
      for (const name of ['host', 'expect', 'proxy-authorization', ...(stream ? [] : ['content-length'])]) delete headers[name]
      const ended = new AbortController()
      // A request that waits for a connection cannot be aborted until it has one.
      const { promise: late, reject } = Promise.withResolvers<never>()
      const giveUp = () => {
        ended.abort()
        reject(ended.signal.reason)
      }
      const timer = Number.isFinite(timeoutMs) ? setTimeout(giveUp, timeoutMs) : undefined
      const send = async (origin: string) => {
        const answer = await dispatcher
          .request({
            origin,
            path: target,
            method: request.method as Dispatcher.HttpMethod,
            headers,
            body: stream?.pieces ?? body,
            signal: AbortSignal.any([request.signal, ended.signal]),
            headersTimeout: 0,
          })
          .catch((cause: NodeJS.ErrnoException) => {
            throw new UpstreamFailure(neverSent.has(cause.code ?? '') ? 'unsent' : ended.signal.aborted ? 'late' : 'cut', `${origin} could not be asked`, cause)
          })
        if (answer.headers[notReadyHeader] === undefined) return answer
        await answer.body.dump()
        throw new UpstreamFailure('unsent', `${origin} takes no requests at this moment`)
      }
      const mayRepeat = (failure: unknown) =>
        !stream?.hasBegun &&
        failure instanceof UpstreamFailure &&
        (failure.stage === 'unsent' || (failure.stage === 'cut' && safe.has(request.method) && !request.signal.aborted))
      const answer = await Promise.race([replicas.ask(send, mayRepeat), late])
        .catch(() => {
          throw new DomainError('UPSTREAM_FAILED', `The service "${slug}" did not answer; try again in a moment.`, { service: slug })
        })
        .finally(() => clearTimeout(timer))
      const sent = new Headers()
      for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) sent.append(name, one)
      const empty = request.method === 'HEAD' || [204, 205, 304].includes(answer.statusCode)
      if (empty) await answer.body.dump()
      const init = { status: answer.statusCode, headers: sent }
      return empty ? new Response(null, init) : streamedResponse(answer.body, init)
    },
  }
}
