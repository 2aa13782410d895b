import type { Logger } from 'pino'
import { codeOf, DomainError } from '../../../platform/errors.ts'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { StreamBody, StreamedAnswer } from '../../../platform/outbound/stream.ts'
import type { Handlers } from '../../http/handlers.ts'
import { problemOf } from '../../http/problem.ts'
import type { Viewer } from '../../viewer.ts'
import { callerOf, requireOperation } from '../administration/caller.ts'
import type { Context } from '../context.ts'
import type { OpenCall } from '../engines/spend/order.ts'
import { costOf } from '../engines/video/table.ts'
import { headersBack, headersOut, isPartOfUpload, ledBack, pathBelow } from './headers.ts'
import { type Counted, countCall, exhausted, type Standing, uncountCall } from './quota.ts'

/** Time in ms without a byte in either direction after which a call is ended. */
const idleMs = 60_000

/** Maximum bytes of an error that are read to recognize an exceeded quota. */
const mostRead = 64 * 1024

/** Paths below which bodies are streamed. */
export const videoPaths: readonly string[] = ['/providers/platform/youtube/']

/** Forwards calls of YouTube's Data API, and counts them. */
export const videoHandlers = (open: (viewer: Viewer, request: Request) => Context, log: Pick<Logger, 'error'>): Handlers => ({
  '* /providers/platform/youtube/**': async (request, viewer) => {
    try {
      return await passOn(open(viewer, request), request, log)
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      const { resetsAt, scopeType, callId, outcome } = (error as DomainError).extensions
      return problemOf(request, error as DomainError, [], { resetsAt, scopeType, callId, outcome })
    }
  },
})

async function passOn(context: Context, request: Request, log: Pick<Logger, 'error'>): Promise<Response> {
  const { calls, outbound, thirdParties, quotaTable, publicUrl, clock } = context
  await requireOperation(context, 'VIDEO')
  const caller = await callerOf(context)
  const { pathname, search, searchParams } = new URL(request.url)
  const path = pathBelow(pathname)
  if (path === null) throw new DomainError('NOT_FOUND', 'Only youtube/v3/… and upload/youtube/v3/… are passed on here, with plain characters in their paths.')
  const token = request.headers.get('x-connection-token')?.trim()
  if (!token || !/^[\x21-\x7e]+$/.test(token))
    throw new DomainError('BAD_USER_INPUT', 'X-Connection-Token is missing: send the access token of the account that is called for.', {
      field: 'X-Connection-Token',
    })
  const { method, bucket, units: full } = costOf(quotaTable, request.method, path)
  const units = isPartOfUpload(request.method, path, searchParams) ? 0 : full
  const micros = BigInt(units) * calls.priceOf.videoUnit
  const began = performance.now()
  const provider = 'youtube'
  const candidate = { model: provider, provider, upperMicros: micros }
  const call = await calls.begin(caller, { family: 'VIDEO', operation: method, requestedModel: null, candidates: [candidate] })
  const counted: Counted = { bucket, units, organizationId: caller.organizationId, appId: caller.appId }
  const end = ending(call, { provider, units, micros, began }, log)
  let standing: Standing
  try {
    standing = await countCall(context, counted)
  } catch (error) {
    await end('FAILED', null, 'QUOTA_EXHAUSTED')
    throw error
  }
  const hasBody = request.body !== null
  let answer: StreamedAnswer
  try {
    answer = await outbound.stream(`${thirdParties.youtube}/${path}${search}`, {
      method: request.method,
      headers: headersOut(request.headers, token, hasBody),
      body: (request.body as StreamBody | null) ?? null,
      signal: request.signal,
      // When the other side closes a kept-alive connection, the caller cannot tell whether the call arrived.
      freshConnection: request.method !== 'GET',
      ...{ firstByteMs: idleMs, idleMs, totalMs: Number.POSITIVE_INFINITY, mostBytes: Number.POSITIVE_INFINITY },
    })
  } catch (error) {
    if (!(error instanceof OutboundFailure)) {
      await end('FAILED', null, 'broken')
      throw error
    }
    await end(error.kind === 'left' ? 'ABORTED' : 'FAILED', null, error.kind, error.sent)
    // The call did not reach the network, so it costs no quota there. Released last: quota that cannot be released now
    // returns at midnight.
    if (!error.sent && units > 0)
      await uncountCall(context, counted).catch(cause => log.error({ err: cause, call: call.id }, 'unused quota of a call could not be released'))
    throw new DomainError('UPSTREAM_FAILED', `YouTube did not answer: ${error.message}. Ask a resumable upload for its offset.`, {
      outcome: error.sent ? 'unknown' : 'not_sent',
    })
  }
  const headers = headersBack(answer.headers)
  for (const [name, value] of Object.entries(quotaHeaders(bucket, units, standing))) headers.set(name, value)
  const location = headers.get('location')
  if (location !== null) {
    const ours = ledBack(location, thirdParties.youtube, `${publicUrl}/providers/platform/youtube`)
    if (ours === null) {
      answer.cancel()
      await end('FAILED', answer.status, 'location')
      throw new DomainError('UPSTREAM_FAILED', 'YouTube has answered with an address that is not passed on here: repeat the call.')
    }
    headers.set('location', ours)
  }
  const first = answer.status === 403 ? await begunWith(answer) : null
  if (first && saysQuota(first.text)) {
    answer.cancel()
    await end('FAILED', answer.status, 'quotaExceeded')
    const refusal = exhausted(bucket, 'network', standing.resetsAt, clock.now())
    const told = problemOf(request, refusal, [], { resetsAt: standing.resetsAt.toISOString() })
    for (const [name, value] of Object.entries(quotaHeaders(bucket, units, standing))) told.headers.set(name, value)
    return told
  }
  const status = answer.status < 400 ? 'SUCCEEDED' : 'FAILED'
  if ([204, 205, 304].includes(answer.status) || request.method === 'HEAD') {
    answer.cancel()
    await end(status, answer.status, null)
    return new Response(null, { status: answer.status, headers })
  }
  const body = handedOver(first ? first.pieces : answer.body[Symbol.asyncIterator](), (isWhole, failure) =>
    end(isWhole ? status : failure ? 'FAILED' : 'ABORTED', answer.status, isWhole ? null : failure ? 'broken' : 'left'),
  )
  return new Response(body, { status: answer.status, headers })
}

const quotaHeaders = (bucket: string, units: number, { remaining, resetsAt }: Standing) => ({
  'x-quota-bucket': bucket,
  'x-quota-cost': String(units),
  'x-quota-remaining': String(remaining),
  'x-quota-resets-at': resetsAt.toISOString(),
})

/**
 * Records the outcome of a call, once. If it cannot be stored, it is logged: the answer exists, and the reservation
 * expires.
 */
const ending =
  (
    call: OpenCall,
    { provider, units, micros, began }: { readonly provider: string; readonly units: number; readonly micros: bigint; readonly began: number },
    log: Pick<Logger, 'error'>,
  ) =>
  async (status: 'SUCCEEDED' | 'FAILED' | 'ABORTED', answered: number | null, failure: string | null, isSent = answered !== null): Promise<void> => {
    const latencyMs = performance.now() - began
    const attempts = isSent ? [{ provider, model: null, status: answered, failure, latencyMs: Math.round(latencyMs) }] : []
    const cost = isSent ? { units, costMicros: micros } : { units: 0, costMicros: 0n }
    await call
      .settle({ status, model: null, provider, ...cost, attempts, latencyMs })
      .catch(error => log.error({ err: error, call: call.id }, 'outcome of a call could not be stored'))
  }

/** Returns the beginning of an answer as text, and the whole answer, including that beginning. */
async function begunWith(answer: StreamedAnswer): Promise<{ readonly text: string; readonly pieces: AsyncIterator<Uint8Array> }> {
  const rest = answer.body[Symbol.asyncIterator]()
  const pieces: Uint8Array[] = []
  let bytes = 0
  let failure: unknown
  while (bytes <= mostRead) {
    const next = await rest.next().catch(error => {
      failure = error
      return { done: true as const, value: undefined }
    })
    if (next.done) break
    pieces.push(next.value)
    bytes += next.value.byteLength
  }
  const text = Buffer.concat(pieces).toString('utf8')
  const all = {
    async next(): Promise<IteratorResult<Uint8Array>> {
      const piece = pieces.shift()
      if (piece) return { done: false, value: piece }
      if (failure) throw failure
      return rest.next()
    },
    return: () => rest.return!(),
  }
  return { text, pieces: all as AsyncIterator<Uint8Array> }
}

/** Whether the network rejects a call because its quota is used up, and not because of the caller or the rate. */
function saysQuota(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly errors?: readonly { readonly reason?: unknown }[] } }
    return (error?.errors ?? []).some(({ reason }) => reason === 'quotaExceeded' || reason === 'dailyLimitExceeded')
  } catch {
    return false
  }
}

/**
 * Returns an answer's body as a stream; closing it ends the call. @param ended called once, with whether the whole body
 * was read, or the failure
 */
function handedOver(pieces: AsyncIterator<Uint8Array>, ended: (isWhole: boolean, failure?: unknown) => Promise<void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (!done) return controller.enqueue(value)
          await ended(true)
          controller.close()
        } catch (error) {
          await ended(false, error)
          controller.error(error)
        }
      },
      async cancel() {
        await pieces.return?.()
        await ended(false)
      },
    },
    { highWaterMark: 0 },
  )
}
