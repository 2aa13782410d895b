import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ExecutionResult, execute, parse, validate } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import type { Claim } from '../../../router/access/callers/claim.ts'
import type { BytesInFlight } from '../../../router/engine/data/in-flight.ts'
import type { Engine, ResultStream } from '../../../router/engine/engine.ts'
import { createEngine } from '../../../router/engine/native/native.ts'
import { createRemoteTransport, type RemoteOptions, type SubscriptionProtocol } from '../../../router/engine/transport/remote.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { unbounded } from '../../kit/reading.ts'
import { subscribeAlone } from '../../kit/stream.ts'
import { type Answer, answerOf, compose, type Part, schemaOf } from '../supergraph-fixture.ts'

/** What a subgraph was asked. */
export interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly query: string
  readonly variables: Record<string, unknown> | undefined
}

/** Answers in a subgraph's place. */
export type Fault = (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>

/** A subgraph that listens on loopback, over HTTP and WebSocket. */
export interface SubgraphServer {
  readonly url: string
  /** Every request over HTTP that was read to its end. */
  readonly asked: Asked[]
  /** Payloads of `connection_init`, and the upgrade's headers. */
  readonly connected: { readonly payload: unknown; readonly headers: IncomingHttpHeaders }[]
  /** While set, it answers every request. */
  fault: Fault | null
  /** Makes the resolvers' context of the headers of a request. @default that of the part */
  context: ((headers: IncomingHttpHeaders) => object) | null
  /** Headers of its answers, and `extensions` beside their data. */
  headers: Readonly<Record<string, string>>
  extensions: object | undefined
  /** Requests whose connection was cut before they were answered. */
  readonly abandoned: number
  /** Connections that stand. */
  readonly connections: ReadonlySet<Socket>
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>
  /** Listens again, on the same port. */
  start(): Promise<void>
}

export async function serveSubgraph(part: Part): Promise<SubgraphServer> {
  const schema = schemaOf(part)
  const asked: Asked[] = []
  const connected: SubgraphServer['connected'] = []
  const connections = new Set<Socket>()
  let port = 0
  let abandoned = 0
  const server = createServer(async (request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) abandoned++
    })
    const body = await text(request).catch(() => '')
    const { query = '', variables } = body ? JSON.parse(body) : {}
    asked.push({ headers: request.headers, query, variables })
    if (one.fault) return void (await one.fault(request, response, body))
    const document = parse(query)
    const errors = validate(schema, document)
    const result =
      errors.length > 0
        ? { errors }
        : await execute({
            schema,
            document,
            variableValues: variables,
            contextValue: one.context?.(request.headers) ?? part.open?.(anonymous, { requestId: 'request-1', ...unbounded }) ?? {},
          })
    response.setHeaders(new Headers({ 'content-type': 'application/json', ...one.headers }))
    response.end(JSON.stringify({ ...result, extensions: one.extensions }))
  })
  server.on('connection', socket => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  const sockets = new WebSocketServer({ server })
  useServer(
    {
      schema,
      onConnect: ({ connectionParams, extra }) => {
        connected.push({ payload: connectionParams, headers: (extra as { request: IncomingMessage }).request.headers })
        return true
      },
    },
    sockets,
  )
  const one: SubgraphServer = {
    get url() {
      return `http://localhost:${port}/graphql`
    },
    get abandoned() {
      return abandoned
    },
    asked,
    connected,
    fault: null,
    context: null,
    headers: {},
    extensions: undefined,
    connections,
    async start() {
      await new Promise<void>(resolve => server.listen(port, 'localhost', resolve))
      port = (server.address() as AddressInfo).port
    },
    async stop() {
      for (const socket of connections) socket.destroy()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    },
  }
  await one.start()
  return one
}

export interface RemoteGraph extends AsyncDisposable {
  readonly engine: Engine
  readonly servers: Readonly<Record<string, SubgraphServer>>
  readonly logged: Record<string, unknown>[]
  run(source: string, variables?: Record<string, unknown>, more?: RemoteRun): Promise<Answer>
  subscribe(source: string, variables?: Record<string, unknown>, more?: RemoteRun): Promise<ResultStream | ExecutionResult>
}

export interface RemoteRun {
  readonly headers?: Record<string, string>
  readonly viewer?: Viewer
  readonly signal?: AbortSignal
  readonly claim?: Claim
  readonly requestId?: string
}

/** Composes subgraphs, lets each listen on a port of its own, and puts an engine over the remote transport before them. */
export async function remoteGraph(
  parts: Readonly<Record<string, Part>>,
  options: Omit<RemoteOptions, 'subgraphs'> & {
    readonly operationTimeoutMs?: number
    readonly inFlight?: BytesInFlight
    readonly subscriptions?: SubscriptionProtocol
  } = {},
): Promise<RemoteGraph> {
  const servers: Record<string, SubgraphServer> = {}
  for (const [name, part] of Object.entries(parts)) servers[name] = await serveSubgraph(part)
  const { operationTimeoutMs, inFlight, subscriptions, ...rest } = options
  const transport = createRemoteTransport({ ...rest, subgraphs: new Map(Object.entries(servers).map(([name, { url }]) => [name, { url, subscriptions }])) })
  const logged: Record<string, unknown>[] = []
  const write = (fields: unknown) => void logged.push(fields as Record<string, unknown>)
  const engine = createEngine({ supergraphSdl: compose(parts), transport, operationTimeoutMs, inFlight, now: options.now, log: { error: write, warn: write } })
  const requestOf = (source: string, variables: Record<string, unknown> | undefined, { headers, viewer = anonymous, signal, claim, requestId }: RemoteRun) => {
    const document = parse(source)
    const mistakes = validate(engine.schema, document)
    if (mistakes.length > 0) throw new Error(`The test's own operation is not valid: ${mistakes.join('\n')}\n${source}`)
    return { document, variables, viewer, signal, claim, headers: new Headers(headers), requestId: requestId ?? 'request-1' }
  }
  return {
    engine,
    servers,
    logged,
    run: async (source, variables, more = {}) => answerOf(await engine.execute(requestOf(source, variables, more))),
    subscribe: (source, variables, more = {}) => subscribeAlone(engine, requestOf(source, variables, more)),
    async [Symbol.asyncDispose]() {
      await transport.close()
      await Promise.all(Object.values(servers).map(server => server.stop()))
    },
  }
}
