import { writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { systemClock } from '../platform/clock.ts'
import { createControl, createRequestLog, isControl } from './control.ts'
import { createFaults } from './faults.ts'
import type { Call, Network, Reply } from './network.ts'
import { json } from './network.ts'
import { type Demos, ofTwins, twinNames, twins } from './networks.ts'
import { openState } from './state.ts'

/** As much of a pino logger as the sandbox speaks to. */
export interface SandboxLog {
  info(facts: object, message: string): void
  error(facts: object, message: string): void
}

export interface SandboxOptions {
  /** Where the state is kept; created when absent. One running sandbox a folder. */
  readonly folder: string
  /** 0 takes a free port. */
  readonly port: number
  /** @default `localhost`: the loopback addresses of both families */
  readonly host?: string
  /** @default the system's clock */
  readonly clock?: Clock
  readonly log?: SandboxLog
  /** Where the demo application may be sent back to; replaces the list it was registered with. @default the stored list */
  readonly redirectUris?: readonly string[]
}

export interface Sandbox {
  /** Without a path: each network stands under its own prefix, e.g. `<origin>/x`. */
  readonly origin: string
  readonly port: number
  /** The demo application and account of each network. The same facts stand in `demo.json` in the folder (mode 0600). */
  readonly demo: Demos
  /** Cuts every connection, also those that a fault holds, and closes the state. */
  stop(): Promise<void>
}

const maximumBody = 64 * 1024 // bytes

/**
 * Starts the local stand-ins for all third parties on one origin and resolves when they answer.
 * @throws the listening error of Node (`EADDRINUSE` and others) when the port cannot be had
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, port, host = 'localhost', clock = systemClock, log, redirectUris } = options
  const state = openState(folder)
  const faults = createFaults(state)
  const requests = createRequestLog()
  const played = ofTwins(name => twins[name].play(name, { state, faults, clock, ...(redirectUris ? { redirectUris } : {}) }))
  state.commit()
  const networks: readonly Network[] = twinNames.map(name => played[name].network)
  const control = createControl({ networks, faults, requests })

  const answer = (call: Call): Reply => {
    if (isControl(call.path)) return control(call)
    const network = networks.find(one => call.path.startsWith(`/${one.name}/`))
    if (!network) return json(404, { error: `Nothing is played here; there are ${networks.map(one => `/${one.name}`).join(', ')} and /_control.` }, 'refused')
    const reply = network.answer({ ...call, path: call.path.slice(network.name.length + 1) })
    if (reply.outcome !== 'accepted')
      requests.add({
        at: clock.now().toISOString(),
        network: network.name,
        method: call.method,
        path: call.path,
        status: reply.status,
        outcome: reply.outcome,
        fault: reply.fault ?? null,
        reason: reply.reason ?? null,
      })
    return reply
  }

  const listener: RequestListener = (request, response) => {
    read(request)
      .then(call => {
        const reply = call ? answer(call) : json(413, { title: 'Payload Too Large', status: 413, detail: 'Payload Too Large', type: 'about:blank' }, 'refused')
        state.commit()
        deliver(response, reply)
      })
      .catch((error: unknown) => {
        if (request.destroyed && !request.complete) return
        log?.error({ err: error, path: request.url?.split('?')[0] }, 'the sandbox could not answer')
        deliver(response, json(500, { title: 'Internal Server Error', status: 500, detail: 'Something is broken.', type: 'about:blank' }, 'refused'))
      })
  }

  const servers = await listen(listener, host, port).catch((error: unknown) => {
    state.close()
    throw error
  })
  const bound = (servers[0]!.address() as AddressInfo).port
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  const facts = ofTwins(name => {
    const { clientId, clientSecret, account } = played[name].demo
    return { clientId, clientSecret, account }
  })
  writeFileSync(join(folder, 'demo.json'), `${JSON.stringify({ origin, ...facts }, null, 2)}\n`, { mode: 0o600 })
  log?.info({ origin }, `the sandbox plays ${twinNames.map(name => twins[name].title).join(', ')}`)

  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map(close))
    state.close()
  }
  const demo: Demos = ofTwins(name => ({
    ...played[name].demo,
    async grant(id) {
      const grant = await played[name].demo.grant(id)
      state.commit()
      return grant
    },
  }))
  return {
    origin,
    port: bound,
    demo,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Listens on one address, or on both loopback families under the same port; a machine without IPv6 has the first only. */
async function listen(listener: RequestListener, host: string, port: number): Promise<Server[]> {
  if (host !== 'localhost') return [await listenOn(listener, host, port)]
  for (let attempt = 1; ; attempt += 1) {
    const first = await listenOn(listener, '127.0.0.1', port)
    try {
      return [first, await listenOn(listener, '::1', (first.address() as AddressInfo).port)]
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return [first]
      await close(first)
      if (code !== 'EADDRINUSE' || port !== 0 || attempt === 5) throw error
    }
  }
}

function listenOn(listener: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, listener)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server.off('error', reject)))
  })
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** The request with its body, or nothing when the body is larger than the sandbox takes. */
async function read(request: IncomingMessage): Promise<Call | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maximumBody) chunks.push(chunk)
  }
  if (size > maximumBody) return undefined
  const url = new URL(request.url ?? '/', 'http://sandbox')
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  }
}

function deliver(response: ServerResponse, reply: Reply): void {
  if (reply.delivery === 'hold') return
  if (reply.delivery === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const send = (): void => {
    if (response.destroyed) return
    response.writeHead(reply.status, { 'cache-control': 'no-store', ...reply.headers })
    response.end(reply.body)
  }
  if (reply.delayMs === undefined) send()
  else setTimeout(send, reply.delayMs).unref()
}
