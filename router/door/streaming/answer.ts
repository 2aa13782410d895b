import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { GraphQLFormattedError } from 'graphql'
import type { Logger } from 'pino'
import type { Caller } from '../../access/authenticate.ts'
import type { Hosts } from '../../hosts.ts'
import type { Membership } from '../../live/shared/channel.ts'
import type { StreamMessage } from '../../live/shared/message.ts'
import { type Streams, tryAgainCode } from '../../live/streams.ts'
import { corsHeaders, varyOf } from '../cors.ts'
import type { StreamForm } from './form.ts'

/** Everything about streaming answers that has a bound. */
export const streamingLimits = {
  /** Maximum bytes that wait for a client to read them; above it the connection is cut. */
  waitingBytes: 1024 * 1024,
  /** Milliseconds between heartbeats, which also detect clients that disappeared. */
  heartbeatMs: 10_000,
} as const

export interface StreamingDoor {
  readonly hosts: Hosts
  readonly streams: Streams
  readonly log: Logger
  /** @default 10000 */
  readonly heartbeatMs?: number | undefined
}

/** The client that a stream goes to. */
export interface Reader {
  readonly caller: Caller
  readonly requestId: string
}

/**
 * Sends the events of a stream in the answer until either side ends it. An event is serialized once for all clients,
 * including its chunk framing, and written in one piece: the answer itself would make four writes for each client.
 */
export function sendStream(reply: FastifyReply, form: StreamForm, membership: Membership, { caller, requestId }: Reader, door: StreamingDoor): FastifyReply {
  const response = beginAnswer(reply, form, door.hosts)
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    clearInterval(heartbeat)
    unwatch()
    membership.leave()
  }
  const end = (last: string) => {
    if (isOver) return
    over()
    response.end(last)
  }
  const isTooSlow = () => {
    if (!cutSlow(response, requestId, door)) return false
    over()
    return true
  }
  const write = (text: string) => {
    if (!isOver && !isTooSlow()) response.write(text)
  }
  const send = (message: StreamMessage) => {
    if (isOver || isTooSlow()) return
    const { socket } = response
    // No socket while another answer of the connection is in progress; no chunks for HTTP/1.0.
    if (socket && response.chunkedEncoding) socket.write(message.framed(form.chunk))
    else response.write(form.next(message.json))
  }
  const unwatch = watchCaller(door, caller, why => {
    membership.cut(why)
    end(form.failed([why]))
  })
  const heartbeat = setInterval(() => write(form.heartbeat), door.heartbeatMs ?? streamingLimits.heartbeatMs).unref()
  response.once('close', over)
  response.on('error', err => door.log.debug({ err, requestId }, 'stream failed'))
  write(form.begin)
  membership.listen({
    send,
    end: errors => end(errors.length > 0 ? form.failed(errors) : form.complete),
  })
  return reply
}

/** Cuts off a client that reads too slowly. @returns whether it was cut off */
export function cutSlow(response: ServerResponse, requestId: string, { log }: Pick<StreamingDoor, 'log'>): boolean {
  if (response.writableLength <= streamingLimits.waitingBytes) return false
  log.info({ requestId, waiting: response.writableLength }, 'connection closed: client reads too slowly')
  response.destroy()
  return true
}

/** Calls `end` when a caller's credential ends, or cannot be checked any more. @returns ends watching */
export const watchCaller = ({ streams }: Pick<StreamingDoor, 'streams'>, caller: Caller, end: (why: GraphQLFormattedError) => void): (() => void) =>
  caller.credential.kind === 'none' ? () => {} : streams.watch({ caller, end: (code, reason) => end(code === tryAgainCode ? unanswered : expired(reason)) })

/**
 * Takes the answer over from Fastify, with the headers set so far and those otherwise decided at sending. Streams stay
 * open by the thousand, so the request's body is released, and its head becomes one text instead of many pieces.
 * @param more headers that differ from those of streams
 */
export function beginAnswer(
  reply: FastifyReply,
  { contentType }: Pick<StreamForm, 'contentType'>,
  hosts: Hosts,
  more: { readonly 'cache-control'?: string; readonly vary?: string } = {},
): ServerResponse {
  reply.hijack()
  const { raw, request } = reply
  const given = reply.getHeaders() as OutgoingHttpHeaders
  raw.writeHead(200, {
    ...given,
    ...corsHeaders(hosts, request.headers.origin),
    vary: varyOf(more.vary ?? given.vary),
    'content-type': contentType,
    'cache-control': more['cache-control'] ?? 'no-cache, no-store',
    // Asks proxies that buffer answers not to buffer this one (nginx).
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  request.body = undefined
  return raw
}

export const unanswered: GraphQLFormattedError = {
  message: 'The stream ended because its credential cannot be checked at this moment: subscribe again in a while.',
  extensions: { code: 'UPSTREAM_FAILED', reason: 'IDENTITY_UNANSWERED' },
}

export const expired = (reason: string): GraphQLFormattedError => ({
  message: `The stream ended because its credential is no longer valid (${reason}): subscribe again with a valid credential.`,
  extensions: { code: 'TOKEN_EXPIRED', reason },
})
