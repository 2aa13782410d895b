import { type Dispatcher, request } from 'undici'
import { UpstreamFailure } from '../exchange.ts'

/** A subscription that begins with a request. */
export interface HttpStart {
  readonly url: string
  readonly payload: { readonly query: string; readonly variables: Record<string, unknown> }
  /** Header names and values, alternating. */
  readonly headers: readonly string[]
  /** Milliseconds within which the subscription must begin. */
  readonly timeoutMs: number
  /** Connections for streams. */
  readonly dispatcher: Dispatcher
  /** Ends the stream when aborted. */
  readonly signal: AbortSignal
  /** Aborts the start, because its caller has left. */
  readonly leaving?: AbortSignal | undefined
}

/** What differs between the protocols that begin with a request. */
interface Beginning<Result> {
  readonly accept: string
  /** Beside query and variables. @default none */
  readonly extensions?: object
  /** Cuts the request and its answer. */
  readonly cut: AbortController
  /** Reads the answer, within the time of the start. */
  read(answer: Dispatcher.ResponseData): Promise<Result>
}

/**
 * Sends the request that begins a subscription, and reads its answer.
 * @throws UpstreamFailure when the subscription does not begin, in time or at all
 */
export async function begin<Result>(
  { url, payload, headers, timeoutMs, dispatcher, signal, leaving }: HttpStart,
  { accept, extensions, cut, read }: Beginning<Result>,
): Promise<Result> {
  if (signal.aborted) throw new UpstreamFailure('unsent', 'The router is stopping')
  if (leaving?.aborted || timeoutMs <= 0) throw new UpstreamFailure('unsent', 'Nobody waits for it any more')
  const abandon = () => cut.abort()
  leaving?.addEventListener('abort', abandon)
  const late = setTimeout(abandon, timeoutMs)
  try {
    return await read(
      await request(url, {
        method: 'POST',
        headers: ['content-type', 'application/json', 'accept', accept, ...headers],
        body: JSON.stringify({ ...payload, extensions }),
        signal: cut.signal,
        dispatcher,
      }),
    )
  } catch (cause) {
    if (cause instanceof UpstreamFailure) throw cause
    if (cut.signal.aborted) throw new UpstreamFailure('late', `No answer within ${timeoutMs} ms`, cause)
    throw new UpstreamFailure('cut', `It could not be asked: ${(cause as { code?: string }).code ?? (cause as Error).message}`, cause)
  } finally {
    clearTimeout(late)
    leaving?.removeEventListener('abort', abandon)
  }
}
