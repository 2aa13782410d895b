import type { WayOut } from '../../../../../platform/outbound/outbound.ts'
import type { StreamedAnswer } from '../../../../../platform/outbound/stream.ts'
import { BadStatus } from '../outcome.ts'

/** The most bytes that one answer may have. */
const maxBytes = 1024 * 1024

/** What the requests of one exchange share. */
export interface Exchange {
  readonly outbound: Pick<WayOut, 'stream'>
  readonly headers: Readonly<Record<string, string>>
  /** Aborts when the exchange has to end. */
  readonly signal: AbortSignal
  /** Time limit of the whole exchange, in ms. */
  readonly totalMs: number
  /** Hears that an answer broke off, for the client would wait for its rest. */
  broken(error: unknown): void
}

/** The seconds or the date of `Retry-After`, as ms from now. */
function retryAfter(text: string | null, now: number): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** Whether the client opens a stream for messages that nobody asked for; a resumed answer names the event it goes on from. */
const isListening = (method: string, headers: Headers): boolean => method === 'GET' && !headers.has('last-event-id')

/**
 * Makes the `fetch` of the protocol's client: through our way out, which reaches public addresses alone, follows no redirects and counts
 * bytes and time.
 * @returns a function that rejects with BadStatus, or with the OutboundFailure of the way out
 */
export const fetchThrough = ({ outbound, headers, signal, totalMs, broken }: Exchange) =>
  async function fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const method = init.method ?? 'GET'
    const own = new Headers(init.headers)
    if (isListening(method, own)) return new Response(null, { status: 405 })
    const answer = await outbound.stream(url, {
      method,
      headers: { ...headers, ...Object.fromEntries(own), 'accept-encoding': 'identity' },
      body: typeof init.body === 'string' ? init.body : null,
      signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
      ...{ totalMs, firstByteMs: totalMs, idleMs: totalMs, mostBytes: maxBytes, freshConnection: method === 'POST' },
    })
    const { status } = answer
    if (status < 200 || status > 299) {
      answer.cancel()
      throw new BadStatus(status, retryAfter(answer.headers.get('retry-after'), Date.now()))
    }
    if (status === 202 || status === 204 || status === 205) {
      answer.cancel()
      return new Response(null, { status, headers: answer.headers })
    }
    return new Response(noticed(answer, broken), { status, headers: answer.headers })
  }

/** The body of an answer as browsers have it; that it broke off is noticed. */
function noticed({ body, cancel }: StreamedAnswer, broken: (error: unknown) => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        broken(error)
        controller.error(error)
      }
    },
    cancel,
  })
}
