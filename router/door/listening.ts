import { createServer, type Server } from 'node:http'
import { type AddressInfo, type ListenOptions, Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { shouldUpgradeCallback, writtenProblem } from './app.ts'
import { WatchedRequest } from './receiving/pieces.ts'
import type { Draining } from './streaming/draining.ts'
import type { Sockets } from './websocket.ts'

export interface ListeningOptions {
  /** Name or address to listen on; a loopback address means both IP families. */
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  /**
   * Whether other processes listen on the same port: they share the connections, and accept new ones while this process
   * drains. @default false
   */
  readonly sharePort?: boolean | undefined
  /**
   * Milliseconds for which requests are still served after the close began, while readiness reports it, so that load
   * balancers send traffic elsewhere. @default 0
   */
  readonly drainMs?: number | undefined
  /** Ends running requests and streams when the server closes. */
  readonly draining: Draining
  readonly sockets: Pick<Sockets, 'attach' | 'close'>
  /** Called first when the server closes. */
  closing(): void
}

/** An application that can be reached. */
export interface Listening {
  /** Starts to listen. @throws an error with code EADDRINUSE when the port is taken */
  listen(): Promise<{ readonly urls: readonly string[]; readonly port: number }>
  /** Whether the server is about to close: it still serves, and tells clients to use a new connection next time. */
  readonly leaving: () => boolean
  /**
   * Waits for traffic to go elsewhere, ends sockets with 1001, lets running requests and streams end for as long as
   * `draining` allows, and stops. Idempotent.
   */
  close(): Promise<void>
}

/** Maximum milliseconds for which a closing server accepts connections that wait already. */
const mostKnocksMs = 250

/** Interval in milliseconds at which idle connections are cut while the server closes. */
const cutIdleMs = 50

/**
 * Gives an application its listening sockets and its shutdown. Must be called before the application is ready, because
 * it adds hooks.
 */
export function prepareListening(
  app: FastifyInstance,
  { host, port, sharePort = false, drainMs = 0, draining, sockets, closing }: ListeningOptions,
): Listening {
  // Opens a second server for the other loopback family (IPv4 or IPv6), because Node binds one address at a time.
  const twin = createServer({ shouldUpgradeCallback, IncomingMessage: WatchedRequest }, (request, response) => app.routing(request, response))
  for (const listener of app.server.listeners('clientError')) twin.on('clientError', listener as (error: Error, socket: Duplex) => void)
  twin.requestTimeout = app.server.requestTimeout
  twin.headersTimeout = app.server.headersTimeout
  twin.keepAliveTimeout = app.server.keepAliveTimeout
  for (const server of [app.server, twin]) {
    draining.watch(server)
    sockets.attach(server)
    server.on('connect', (_request, socket) =>
      socket.on('error', () => socket.destroy()).end(writtenProblem(400, 'This server is not a proxy: CONNECT is not supported.')),
    )
  }

  const reusing = sharePort && { reusePort: true }
  let cutting: NodeJS.Timeout | undefined
  let leaving = false
  app.addHook('onSend', async (_request, reply) => {
    if (leaving) reply.header('connection', 'close')
  })
  const stopListening = async () => {
    const listening = [app.server, twin].filter(server => server.listening)
    await nobodyKnocks(listening)
    // Not `server.close()`, which cuts connections that are idle at this moment.
    for (const server of listening) NetServer.prototype.close.call(server)
  }
  app.addHook('preClose', async () => {
    closing()
    // Stops listening before it asks sockets to reconnect, or they would reconnect to this process.
    await stopListening()
    sockets.close()
    // Otherwise a connection whose last answer ends now would be kept alive and keep the server open. Requests that have arrived are read
    // first: if they were cut, a client could not know that nothing was done.
    cutting = setInterval(
      () =>
        setImmediate(() => {
          app.server.closeIdleConnections()
          twin.closeIdleConnections()
        }),
      cutIdleMs,
    )
    cutting.unref()
    await turn()
    await new Promise<void>(resolve => twin.close(() => resolve()))
    await turn()
  })
  app.addHook('onClose', () => clearInterval(cutting))

  return {
    async listen() {
      const loopback = ['localhost', '127.0.0.1', '::1'].includes(host)
      try {
        await app.listen({ host: loopback ? '127.0.0.1' : host, port, ...reusing, listenTextResolver: address => `listening at ${address}` })
        const bound = (app.server.address() as AddressInfo).port
        const both = loopback && (await listenBeside(twin, { port: bound, ...reusing }))
        const name = host.includes(':') ? `[${host}]` : host
        return { port: bound, urls: loopback ? [`http://127.0.0.1:${bound}`, ...(both ? [`http://[::1]:${bound}`] : [])] : [`http://${name}:${bound}`] }
      } catch (error) {
        await app.close()
        throw error
      }
    },
    leaving: () => leaving,
    async close() {
      leaving = true
      const drains = drainMs > 0 && app.server.listening
      if (sharePort) await stopListening()
      if (drains) await new Promise(resolve => setTimeout(resolve, drainMs))
      const drained = draining.begin()
      await app.close()
      drained()
    },
  }
}

/** Resolves after a turn of the event loop in which all arrived data was read. */
const turn = async () => {
  for (let phase = 0; phase < 2; phase++) await new Promise(resolve => setImmediate(resolve))
}

/**
 * Resolves after the first turn of the event loop without a new connection: the system resets waiting connections when
 * a server stops to listen, and hands out one a turn.
 */
async function nobodyKnocks(servers: readonly Server[]): Promise<void> {
  let knocks = 0
  const count = () => {
    knocks += 1
  }
  for (const server of servers) server.on('connection', count)
  const overdue = performance.now() + mostKnocksMs
  for (let before = -1; knocks !== before && performance.now() < overdue; ) {
    before = knocks
    await turn()
  }
  for (const server of servers) server.off('connection', count)
}

/** @returns false on a machine without IPv6 */
function listenBeside(server: Server, at: ListenOptions): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT' ? resolve(false) : reject(error)))
    server.listen({ host: '::1', ...at }, () => resolve(true))
  })
}
