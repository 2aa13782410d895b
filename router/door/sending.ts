import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { callIs, doFor } from '../../platform/caller/cause.ts'
import { DomainError } from '../../platform/errors.ts'
import { anonymous, loggedAs, type Viewer } from '../../subgraphs/viewer.ts'
import { type Claim, claimOf } from '../access/callers/claim.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import { rememberTurn } from '../live/pace.ts'
import { withStatus } from './errors.ts'

/** Limits on answers that are being sent. */
export interface SendingLimits {
  /** Milliseconds without a byte read by the client, after which a connection is cut. */
  readonly stuckMs: number
  /** Milliseconds between two checks for stuck connections. */
  readonly lookMs: number
}

export const sendingLimits: SendingLimits = { stuckMs: 20_000, lookMs: 1000 }

/** Size up to which answers are sent whole and never rejected: error answers are small. */
const smallBytes = 64 * 1024

/** Size up to which answers are sent in one piece. */
const wholeBytes = 128 * 1024

/** Size of the pieces of a larger answer, by which its progress is measured. */
const pieceBytes = 64 * 1024

const claims = new WeakMap<IncomingMessage, Claim>()

/**
 * Assigns a request to its caller, so that answers in progress to one person or key count together whatever address
 * they go to.
 * @returns identity under which the caller's use is counted
 */
export function rememberCaller(request: FastifyRequest, viewer: Viewer): Claim {
  const claim = claimOf(viewer, request.ip)
  claims.set(request.raw, claim)
  rememberTurn(request.raw, claim)
  if (viewer.kind !== 'anonymous') callIs(loggedAs(viewer), viewer.organizationId)
  return claim
}

/** Returns a signal that aborts when the client leaves before it has its answer. */
export function leavingSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Listens to the response: a request also emits `close` when it was read to its end.
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

interface Sent {
  readonly response: ServerResponse
  /** Bytes of this connection that the system had accepted at the last check. */
  taken: number
  since: number
}

/**
 * Limits the memory of answers that wait for clients to read them: above the limit of a caller or organization an
 * answer is 429, above that of the process 503, both with Retry-After; a connection from which nothing is read for a
 * while is cut.
 */
export function boundSending(
  app: FastifyInstance,
  log: Logger,
  inFlight: BytesInFlight,
  limits: SendingLimits = sendingLimits,
  now = () => performance.now(),
): void {
  const sending = new Set<Sent>()
  let looking: NodeJS.Timeout | undefined

  const look = () => {
    const at = now()
    for (const sent of sending) {
      const { socket } = sent.response
      if (!socket) continue
      const taken = socket.bytesWritten - socket.writableLength
      if (taken !== sent.taken || (socket.writableLength === 0 && sent.response.writableLength === 0)) {
        sent.taken = taken
        sent.since = at
      } else if (at - sent.since >= limits.stuckMs) {
        log.info({ unread: socket.writableLength }, 'connection closed: client did not read its answer')
        socket.destroy()
      }
    }
  }
  const watch = (response: ServerResponse) => {
    const sent: Sent = { response, taken: -1, since: now() }
    sending.add(sent)
    looking ??= doFor(null, () => setInterval(look, limits.lookMs).unref())
    response.once('close', () => {
      sending.delete(sent)
      if (sending.size > 0) return
      clearInterval(looking)
      looking = undefined
    })
  }

  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    watch(reply.raw)
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload)
    const bytes = Buffer.byteLength(payload)
    if (bytes <= smallBytes || request.method === 'HEAD') return done(null, payload)
    const claim = claims.get(request.raw) ?? claimOf(anonymous, request.ip)
    const full = inFlight.take(claim, bytes)
    if (full === 'process')
      return done(withStatus(503, new DomainError('RATE_LIMITED', 'Too many answers wait to be read by others: ask again in a moment.', { retryAfter: 5 })))
    if (full)
      return done(
        new DomainError('RATE_LIMITED', 'Answers that you, or your organization, have not read yet wait already: read them, then ask again.', {
          retryAfter: 5,
        }),
      )
    reply.raw.once('close', () => inFlight.release(claim, bytes))
    if (bytes <= wholeBytes) return done(null, payload)
    reply.header('content-length', bytes)
    done(null, Readable.from(piecesOf(typeof payload === 'string' ? Buffer.from(payload) : payload), { objectMode: false, highWaterMark: pieceBytes }))
  })
}

function* piecesOf(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += pieceBytes) yield whole.subarray(at, at + pieceBytes)
}
