import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { GraphQLFormattedError } from 'graphql'
import type { Logger } from 'pino'
import type { Caller } from '../../access/authenticate.ts'
import type { Membership } from '../../live/shared/channel.ts'
import type { Streams } from '../../live/streams.ts'
import type { StreamForm } from './form.ts'

/** Everything about streaming answers that has a bound. */
export const streamingLimits = {
  /** Bytes that wait for a client to read them; past it the connection is cut. */
  waitingBytes: 1024 * 1024,
  /** Milliseconds between heartbeats: by them a client that left without a word is found out, too. */
  heartbeatMs: 10_000,
} as const

export interface StreamingDoor {
  readonly streams: Streams
  readonly log: Logger
  /** @default 10000 */
  readonly heartbeatMs?: number | undefined
}

/** Whom a stream goes to. */
export interface Reader {
  readonly caller: Caller
  readonly requestId: string
}

/** Writes the events of a stream into the answer until either side ends it. */
export function sendStream(reply: FastifyReply, form: StreamForm, membership: Membership, { caller, requestId }: Reader, door: StreamingDoor): FastifyReply {
  const response = beginAnswer(reply, form)
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
  const write = (text: string) => {
    if (isOver) return
    if (response.writableLength > streamingLimits.waitingBytes) {
      door.log.info({ requestId, waiting: response.writableLength }, 'a client that reads too slowly was dropped')
      over()
      response.destroy()
      return
    }
    response.write(text)
  }
  const unwatch = caller.credential.kind === 'none' ? () => {} : door.streams.watch({ caller, end: (_code, reason) => end(form.failed([expired(reason)])) })
  const heartbeat = setInterval(() => write(form.heartbeat), door.heartbeatMs ?? streamingLimits.heartbeatMs).unref()
  response.once('close', over)
  response.on('error', err => door.log.debug({ err, requestId }, 'a stream broke'))
  write(form.begin)
  membership.listen({
    tell: told => write(told.framed(form.key, form.next)),
    end: errors => end(errors.length > 0 ? form.failed(errors) : form.complete),
  })
  return reply
}

/** Takes the answer out of Fastify's hands, with the headers that it has so far. */
function beginAnswer(reply: FastifyReply, { contentType }: StreamForm): ServerResponse {
  reply.hijack()
  const { raw } = reply
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  // Proxies that keep an answer until it is whole are asked not to (nginx).
  raw.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache, no-store', 'x-accel-buffering': 'no' })
  return raw
}

const expired = (reason: string): GraphQLFormattedError => ({
  message: `The stream ended, for what it was asked with holds no more (${reason}): subscribe again with a valid credential.`,
  extensions: { code: 'TOKEN_EXPIRED', reason },
})
