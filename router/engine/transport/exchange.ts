import { buildConnector, Client, type Dispatcher } from 'undici'

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
  /** Told of each piece of the answer how many bytes it has, before the piece is kept. @default nobody is */
  readonly arrives?: ((bytes: number) => void) | undefined
}

/** A question on its way. */
export interface Exchange {
  readonly answer: Promise<HttpAnswer>
  /** Ends it now: `answer` rejects with the failure, and a connection that is in use for it is closed. */
  cancel(failure: Error): void
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

/** Pieces of an answer that are held one by one: a server may send a byte at a time, and each costs a hundred of ours. */
const mostPieces = 1024

/** Takes a connection to be sent on; null when there will be none any more. */
type Waiting = (connection: Client | null) => void

/**
 * Opens a bounded number of kept-alive connections to one origin. It works on undici's dispatch interface in the form that hands
 * over headers unread, because nothing of them is needed but the status. Questions wait here and not in undici, where one that was
 * given up would stay in the line and cost the connection that it comes to.
 * @param origin scheme, host and port
 */
export function openOrigin(origin: string, { connections, mostWaiting, mostBytes }: OriginOptions): Origin {
  const connect = buildConnector({ timeout: connectMs })
  const opened: Client[] = []
  // The most recently used connection is the warmest; the others may time out.
  const idle: Client[] = []
  // It answered a moment ago: a server that closes after each answer may be about to do so.
  const fresh: Client[] = []
  const waiting = new Set<Waiting>()
  let closed = false

  const open = (): Client | undefined => {
    if (opened.length >= connections) return undefined
    // The caller sets deadlines: one timer for the whole fetch instead of undici's for each phase.
    const connection = new Client(origin, { connect, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
    opened.push(connection)
    return connection
  }
  const handOver = (connection: Client) => {
    const [next] = waiting
    if (!next) return void idle.push(connection)
    waiting.delete(next)
    next(connection)
  }
  const release = (connection: Client) => {
    // Deferred, because undici is still finishing the former request.
    if (waiting.size > 0) queueMicrotask(() => handOver(connection))
    else if (fresh.push(connection) === 1) setImmediate(rest)
  }
  const rest = () => {
    for (const connection of fresh.splice(0)) idle.push(connection)
  }

  return {
    ask(question) {
      const connection = closed ? undefined : (idle.pop() ?? open() ?? fresh.shift())
      if (!connection && (closed || waiting.size >= mostWaiting)) {
        const failure = new UpstreamFailure('unsent', closed ? `${origin} is not asked any more` : `${mostWaiting} requests wait for ${origin} already`)
        return { answer: Promise.reject(failure), cancel() {} }
      }
      let over = false
      let abort: ((cause?: Error) => void) | null = null
      let sent = false
      let begun = false
      let status = 0
      let bytes = 0
      let first: Buffer | null = null
      let rest: Buffer[] | null = null
      let packed: Buffer[] | null = null
      const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
      const cancel = (failure: Error) => {
        if (over) return
        over = true
        waiting.delete(begin)
        reject(failure)
        abort?.(failure)
      }
      const begin: Waiting = given => {
        if (!given) return cancel(new UpstreamFailure('unsent', `${origin} is not asked any more`))
        const handler: Dispatcher.DispatchHandler = {
          onConnect(cut) {
            // Throws instead of closing the connection, on which nothing was sent.
            if (over) throw givenUp
            abort = cut
            sent = true
          },
          onResponseStarted() {
            begun = true
          },
          onHeaders(code) {
            status = code
            return true
          },
          onData(chunk) {
            if (over) return true
            bytes += chunk.length
            question.arrives?.(chunk.length)
            if (over) return true
            if (bytes > mostBytes) cancel(new UpstreamFailure('answered', `${origin} answered with more than ${mostBytes} bytes`))
            else if (!first) first = chunk
            else if (!rest) rest = [first, chunk]
            else if (rest.push(chunk) >= mostPieces) {
              packed ??= []
              packed.push(Buffer.concat(rest))
              rest = []
            }
            return true
          },
          onComplete() {
            release(given)
            if (over) return
            over = true
            const pieces = packed ? [...packed, ...rest!] : rest
            resolve({ status, text: first ? (pieces ? Buffer.concat(pieces, bytes) : first).toString('utf8') : '' })
          },
          onError(cause) {
            release(given)
            if (over) return
            over = true
            const stage = begun ? 'answered' : sent ? 'cut' : 'unsent'
            reject(new UpstreamFailure(stage, `${origin} could not be asked: ${(cause as { code?: string }).code ?? cause.message}`, cause))
          },
        }
        given.dispatch({ method: 'POST', path: question.path, headers: question.headers as string[], body: question.body }, handler)
      }
      if (connection) begin(connection)
      else waiting.add(begin)
      return { answer: promise, cancel }
    },
    async close() {
      closed = true
      for (const begin of [...waiting]) begin(null)
      await Promise.all(opened.map(connection => connection.destroy()))
    },
  }
}

const givenUp = new Error('Nobody waits for it any more')
