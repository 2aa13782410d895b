import { request } from 'node:http'
import { dial } from './bare-socket.ts'
import { until } from './launch.ts'

/** With what somebody comes: headers, which a socket says at its beginning; a cookie comes with its handshake. */
export type Credentials = Readonly<Record<string, string>>

/** What is tried at each door. */
export interface Tried {
  /** An operation, at every door of the graph. */
  readonly query: string
  /** A row of REST that is an operation. */
  readonly path: string
  /** Whether `GET /identity/api/auth/me` is tried too, which is for people. */
  readonly asPerson: boolean
}

/** What a door said: null when it answered, else its status and code. */
type Said = string | null

const sse = 'text/event-stream'
const multipart = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0'

const post = (at: string, credentials: Credentials, query: string, accept: string) =>
  fetch(`${at}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...credentials },
    body: JSON.stringify({ query }),
  })

/** An answer's status and the first code in it, whatever it is wrapped in. */
function read(status: number, text: string): Said {
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1]
  return status < 300 && !code ? null : `${status} ${code}`
}

const byGraph = (accept: string) => async (at: string, who: Credentials, query: string) => {
  const answer = await post(at, who, query, accept)
  return read(answer.status, await answer.text())
}
const byGet = async (at: string, who: Credentials, path: string) => {
  const answer = await fetch(at + path, { headers: who })
  return read(answer.status, await answer.text())
}

const bySocket = async (at: string, who: Credentials, query: string): Promise<Said> => {
  const { bare, init } = await open(at, who)
  try {
    let closed: string | undefined
    bare.closed.then(({ code, reason }) => (closed = `${code} ${reason}`))
    const first = (...types: readonly string[]) => until('the socket answers', () => closed ?? bare.messages.find(({ type }) => types.includes(type)))
    bare.send({ type: 'connection_init', ...init })
    const greeted = await first('connection_ack')
    if (typeof greeted === 'string') return greeted
    bare.subscribe('1', query)
    const answer = await first('next', 'error')
    return typeof answer === 'string' ? answer : read(200, JSON.stringify(answer.payload))
  } finally {
    bare.socket.terminate()
  }
}

async function open(at: string, { cookie, origin, ...said }: Credentials) {
  const bare = await dial(at, cookie ? { headers: { cookie, ...(origin && { origin }) } } : {})
  return { bare, init: cookie ? {} : { payload: said } }
}

/** What every door of a router says to somebody, by its name. */
export async function tryEveryDoor(at: string, who: Credentials, { query, path, asPerson }: Tried): Promise<Readonly<Record<string, Said>>> {
  const [graph, rest, me, socket, events, parts] = await Promise.all([
    byGraph('application/json')(at, who, query),
    byGet(at, who, path),
    asPerson ? byGet(at, who, '/identity/api/auth/me') : undefined,
    bySocket(at, who, query),
    byGraph(sse)(at, who, query),
    byGraph(`${multipart},application/json`)(at, who, query),
  ])
  return { graph, rest, ...(me !== undefined && { me }), socket, events, parts }
}

/** A stream of each kind at one router, which somebody listens to. */
export interface OpenStreams {
  /** Resolves when all of them have ended; with what the socket was closed. */
  readonly ended: Promise<{ readonly code: number; readonly reason: string }>
  leave(): void
}

/**
 * Opens a socket that subscribes, and a stream of each kind of HTTP.
 * @param subscription null: the socket alone, which asks for nothing
 */
export async function openStreams(at: string, who: Credentials, subscription: string | null): Promise<OpenStreams> {
  const { bare, init } = await open(at, who)
  await bare.init(init.payload)
  if (subscription !== null) bare.subscribe('1', subscription)
  await bare.read()
  const over = new AbortController()
  const overHttp = subscription === null ? [] : await Promise.all([sse, multipart].map(accept => stream(at, who, subscription, accept, over.signal)))
  if (bare.messages.some(({ type }) => type === 'error')) throw new Error(`the subscription was refused: ${JSON.stringify(bare.messages)}`)
  return {
    ended: Promise.all([bare.closed, ...overHttp.map(({ ended }) => ended)]).then(([closed]) => closed),
    leave() {
      bare.socket.terminate()
      over.abort()
    },
  }
}

/** Opens a stream, and waits until it has begun. */
async function stream(at: string, who: Credentials, query: string, accept: string, signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>()
  const ended = new Promise<void>(end => {
    const sent = request(`${at}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', accept, ...who }, signal, agent: false }, answer => {
      answer
        .on('end', end)
        .on('error', () => end())
        .resume()
      if (answer.statusCode === 200) resolve()
      else reject(new Error(`a stream as ${accept} was answered ${answer.statusCode}`))
    })
    sent.on('error', error => {
      reject(error)
      end()
    })
    sent.end(JSON.stringify({ query }))
  })
  await begun
  return { ended }
}
