import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type ExecutionResult, getOperationAST, type OperationTypeNode } from 'graphql'
import { type IncrementalWriting, incrementalWritingOf } from '../../../door/streaming/incremental-form.ts'
import type { GatewayEngine, IncrementalPayload } from '../../../engine/package/standalone/create-engine.ts'
import type { PublicEngine } from './for-clients.ts'

/** Maximum bytes of a request's body, and of a message on a WebSocket. */
export const mostBytes = 1024 * 1024
/** Milliseconds without a payload after which a client is told that the answer goes on. */
const heartbeatMs = 10_000

const json = 'application/json; charset=utf-8'
const graphqlJson = 'application/graphql-response+json; charset=utf-8'

interface Asked {
  readonly query?: unknown
  readonly variables?: unknown
  readonly operationName?: unknown
}

/** A mistake of a request, with the status that tells it. */
class RequestMistake extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Serves `/graphql` by GET and POST, and `/health/live` and `/health/ready`.
 * @param engineNow returns the engine of the present graph
 */
export function createDoor(engineNow: () => PublicEngine): Server {
  return createServer((request, response) => {
    serve(request, response, engineNow()).catch(cause => {
      const status = cause instanceof RequestMistake ? cause.status : 500
      const message = cause instanceof RequestMistake ? cause.message : 'Internal server error'
      if (response.headersSent) return void response.destroy()
      send(response, status, json, { errors: [{ message, extensions: { code: status === 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST' } }] })
    })
  })
}

async function serve(request: IncomingMessage, response: ServerResponse, engine: PublicEngine): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://door')
  if (pathname === '/health/live' || pathname === '/health/ready') return send(response, 200, json, { status: 'ok' })
  if (pathname !== '/graphql') throw new RequestMistake(404, 'Nothing is here: operations go to /graphql.')
  const { query, variables, operationName } = request.method === 'GET' ? readParameters(searchParams) : await readBody(request)
  if (typeof query !== 'string') throw new RequestMistake(400, 'The request has no operation: send it as "query".')
  if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables)))
    throw new RequestMistake(400, '"variables" must be an object.')
  const name = typeof operationName === 'string' ? operationName : undefined
  const { accept } = request.headers
  const wantsEvents = accept?.includes('text/event-stream') ?? false
  const type = request.method === 'GET' || wantsEvents ? typeOf(engine, query, name) : undefined
  if (request.method === 'GET' && type === 'mutation') throw new RequestMistake(405, 'GET runs queries alone: send mutations by POST.')
  const leaving = new AbortController()
  response.on('close', () => leaving.abort())
  const writing = incrementalWritingOf(accept, () => /@(?:defer|stream)\b/.test(query))
  const asked = {
    query,
    variables: (variables ?? {}) as Record<string, unknown>,
    operationName: name,
    context: { headers: request.headers },
    signal: leaving.signal,
  }
  if (wantsEvents && type === 'subscription') return serveEvents(response, engine, asked)
  const result = await engine.execute({ ...asked, incremental: writing?.form ?? 'none' })
  if (Symbol.asyncIterator in result) return sendPayloads(response, writing!, result)
  const isGraphql = accept?.includes('application/graphql-response+json') ?? false
  send(response, result.data === undefined ? 400 : 200, isGraphql ? graphqlJson : json, result)
}

/** Returns the type of the operation that is meant; undefined for a mistake, which the engine reports. */
function typeOf({ read }: PublicEngine, query: string, name: string | undefined): `${OperationTypeNode}` | undefined {
  const reading = read(query)
  return 'document' in reading ? getOperationAST(reading.document, name)?.operation : undefined
}

function readParameters(parameters: URLSearchParams): Asked {
  const given = parameters.get('variables')
  return { query: parameters.get('query'), variables: given ? readJson(given) : undefined, operationName: parameters.get('operationName') }
}

async function readBody(request: IncomingMessage): Promise<Asked> {
  if (request.method !== 'POST') throw new RequestMistake(405, 'Operations are sent by GET or POST.')
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) throw new RequestMistake(415, 'The body must have the type application/json.')
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    bytes += (piece as Buffer).length
    if (bytes > mostBytes) throw new RequestMistake(413, `The body has more than ${mostBytes} bytes.`)
    pieces.push(piece as Buffer)
  }
  const body = readJson(Buffer.concat(pieces).toString('utf8'))
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new RequestMistake(400, 'The body must be a JSON object with one operation.')
  return body as Asked
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestMistake(400, 'The request holds something that is not JSON.')
  }
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', vary: 'accept' }).end(JSON.stringify(body))
}

const streaming = { 'cache-control': 'no-store', 'x-accel-buffering': 'no', vary: 'accept' }

async function sendPayloads(response: ServerResponse, writing: IncrementalWriting, payloads: AsyncIterableIterator<IncrementalPayload>): Promise<void> {
  response.writeHead(200, { ...streaming, 'content-type': writing.contentType })
  response.write(writing.begin)
  let heartbeat: NodeJS.Timeout | undefined
  try {
    for await (const payload of payloads) {
      clearInterval(heartbeat)
      const text = JSON.stringify(payload)
      if (payload.hasNext) {
        await written(response, writing.next(text))
        heartbeat = setInterval(() => response.write(writing.heartbeat), heartbeatMs)
      } else response.end(writing.last(text))
    }
  } finally {
    clearInterval(heartbeat)
    response.end()
  }
}

async function serveEvents(response: ServerResponse, engine: GatewayEngine, asked: Parameters<GatewayEngine['subscribe']>[0]): Promise<void> {
  const stream = await engine.subscribe(asked)
  if (!(Symbol.asyncIterator in stream)) return send(response, 400, json, stream)
  response.writeHead(200, { ...streaming, 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(':\n\n')
  const heartbeat = setInterval(() => response.write(':\n\n'), heartbeatMs)
  try {
    for await (const event of stream as AsyncIterable<ExecutionResult>) await written(response, `event: next\ndata: ${JSON.stringify(event)}\n\n`)
  } finally {
    clearInterval(heartbeat)
    response.end('event: complete\ndata:\n\n')
  }
}

/** Waits until the client has read enough that more may follow. */
const written = (response: ServerResponse, text: string): Promise<void> =>
  new Promise(resolve => {
    if (response.write(text) || response.closed) return resolve()
    response.once('drain', resolve)
    response.once('close', resolve)
  })
