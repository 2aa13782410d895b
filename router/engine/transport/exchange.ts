import { type Dispatcher, Pool } from 'undici'

/** A subgraph did not answer, or answered what is no GraphQL result: it costs the fields of one fetch, and says how far that got. */
export class UpstreamFailure extends Error {
  /**
   * `unsent`: nothing left this process. `cut`: the connection broke before the first byte of an answer. `late`: time ran out, or
   * the caller left. `answered`: an answer began, but is of no use.
   */
  readonly stage: 'unsent' | 'cut' | 'late' | 'answered'
  constructor(stage: UpstreamFailure['stage'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UpstreamFailure'
    this.stage = stage
  }
}

/** What came over HTTP, whole. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

export interface HttpQuestion {
  /** Path with query, as it is sent. */
  readonly path: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string
}

/** A question on its way. */
export interface Exchange {
  readonly answer: Promise<HttpAnswer>
  /** Ends it now: `answer` rejects with the failure, and a connection that is in use for it is closed. */
  cancel(failure: UpstreamFailure): void
}

export interface Origin {
  ask(question: HttpQuestion): Exchange
  /** Cuts every connection. */
  close(): Promise<void>
}

export interface OriginOptions {
  /** Connections that are kept alive at most; further questions wait for one. */
  readonly connections: number
  /** Questions that may wait at most; the next one fails at once. */
  readonly mostWaiting: number
  /** Bytes of an answer. */
  readonly mostBytes: number
}

/** Milliseconds until a connection must stand. */
const connectMs = 5000

/**
 * Opens a bounded pool of kept-alive connections to one origin. It works on undici's dispatch interface in the form that hands
 * over headers unread, because nothing of them is needed but the status.
 * @param origin scheme, host and port
 */
export function openOrigin(origin: string, { connections, mostWaiting, mostBytes }: OriginOptions): Origin {
  // Deadlines are the caller's: one timer for the whole of a fetch, in place of undici's for every part of it.
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs } })
  let open = 0
  return {
    ask(question) {
      if (open >= connections + mostWaiting) {
        const failure = new UpstreamFailure('unsent', `${mostWaiting} requests wait for ${origin} already`)
        return { answer: Promise.reject(failure), cancel() {} }
      }
      open++
      let over = false
      let abort: ((cause?: Error) => void) | null = null
      let sent = false
      let status = 0
      let bytes = 0
      let first: Buffer | null = null
      let rest: Buffer[] | null = null
      const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
      const settle = () => {
        over = true
        open--
      }
      const cancel = (failure: UpstreamFailure) => {
        if (over) return
        settle()
        reject(failure)
        abort?.(failure)
      }
      const handler: Dispatcher.DispatchHandler = {
        onConnect(cut) {
          if (over) return cut()
          abort = cut
          sent = true
        },
        onHeaders(code) {
          status = code
          return true
        },
        onData(chunk) {
          if (over) return true
          bytes += chunk.length
          if (bytes > mostBytes) cancel(new UpstreamFailure('answered', `${origin} answered with more than ${mostBytes} bytes`))
          else if (!first) first = chunk
          else if (!rest) rest = [first, chunk]
          else rest.push(chunk)
          return true
        },
        onComplete() {
          if (over) return
          settle()
          resolve({ status, text: first ? (rest ? Buffer.concat(rest, bytes) : first).toString('utf8') : '' })
        },
        onError(cause) {
          if (over) return
          settle()
          const stage = status > 0 ? 'answered' : sent ? 'cut' : 'unsent'
          reject(new UpstreamFailure(stage, `${origin} could not be asked: ${(cause as { code?: string }).code ?? cause.message}`, cause))
        },
      }
      pool.dispatch({ method: 'POST', path: question.path, headers: question.headers as string[], body: question.body }, handler)
      return { answer: promise, cancel }
    },
    close: () => pool.destroy(),
  }
}
