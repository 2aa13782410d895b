import { buildConnector, Client, type Dispatcher } from 'undici'

/**
 * A subgraph did not answer, or its answer is not a GraphQL result. The fields of one fetch fail; `stage` says how far
 * the fetch got.
 */
export class UpstreamFailure extends Error {
  /**
   * `unsent`: nothing left this process. `cut`: the connection broke before the first byte of an answer. `late`: time
   * ran out, or the caller left. `answered`: an answer began but cannot be used.
   */
  readonly stage: 'unsent' | 'cut' | 'late' | 'answered'
  constructor(stage: UpstreamFailure['stage'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UpstreamFailure'
    this.stage = stage
  }
}

/** A complete HTTP answer. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** Names in lower case and values, alternating, of the headers that the question names. @default none */
  readonly headers?: readonly string[] | undefined
}

export interface HttpQuestion {
  /** Path with query, as sent. */
  readonly path: string
  /** Header names and values, alternating. */
  readonly headers: readonly string[]
  readonly body: string
  /** Names of the answer's headers to be read, in lower case. @default none */
  readonly reads?: readonly string[] | undefined
  /** Called with the size in bytes of each piece of the answer, before the piece is stored. @default not called */
  readonly arrives?: ((bytes: number) => void) | undefined
}

/** A request in progress. */
export interface Exchange {
  readonly answer: Promise<HttpAnswer>
  /** Ends the request now: `answer` rejects with the failure, and its connection is closed. */
  cancel(failure: Error): void
}

export interface Origin {
  ask(question: HttpQuestion): Exchange
  /** Cuts every connection. */
  close(): Promise<void>
}

export interface OriginOptions {
  /** Maximum number of kept-alive connections; further requests wait for one. */
  readonly connections: number
  /** Maximum number of waiting requests; the next one fails at once. */
  readonly mostWaiting: number
  /** Maximum bytes of an answer. */
  readonly mostBytes: number
}

/** Milliseconds within which a connection must be established. */
const connectMs = 5000

/**
 * Maximum number of an answer's pieces that are stored separately: a server may send single bytes, and each piece costs
 * a hundred bytes of memory.
 */
const mostPieces = 1024

/** Receives a connection to send on; null when there will be none any more. */
type Waiting = (connection: Client | null) => void

/**
 * Opens a bounded number of kept-alive connections to one origin. It uses undici's dispatch interface in the form that
 * passes headers unparsed, because only the status is needed. Requests wait here and not in undici, where a cancelled
 * request would stay in the queue and cost the connection that it comes to.
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
      let headers: readonly string[] | undefined
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
          onHeaders(code, raw) {
            status = code
            if (question.reads) headers = readHeaders(raw, question.reads)
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
            resolve({ status, headers, text: first ? (pieces ? Buffer.concat(pieces, bytes) : first).toString('utf8') : '' })
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

/** Reads some headers of those that undici passes on as bytes. */
function readHeaders(raw: readonly Buffer[], names: readonly string[]): string[] {
  const read: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!
    if (!names.some(each => each.length === name.length)) continue
    const lower = name.toString('latin1').toLowerCase()
    if (names.includes(lower)) read.push(lower, raw[at + 1]!.toString('latin1'))
  }
  return read
}

const givenUp = new Error('Nobody waits for it any more')
