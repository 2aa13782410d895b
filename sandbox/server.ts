import { writeFileSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { systemClock } from '../platform/clock.ts'
import { createControl, createRequestLog, isControl } from './control.ts'
import { type DnsServer, dns, startDnsServer } from './dns/dns.ts'
import { listenOn } from './dns/listening.ts'
import { deliver, read } from './exchange.ts'
import { createFaults } from './faults.ts'
import type { Call, Demo, Deps, Network, Played, Reply, Watched } from './network.ts'
import { json } from './network.ts'
import { type Demos, ofPlayed, type PlayedName, twinNames, twinOf, twins, vendors } from './networks.ts'
import { type MailServer, smtp, startMailServer } from './smtp/smtp.ts'
import { openState } from './state.ts'
import { type EndpointOptions, type Endpoints, openEndpoints } from './webhooks/endpoints.ts'

/** As much of a pino logger as the sandbox speaks to. */
export interface SandboxLog {
  info(facts: object, message: string): void
  error(facts: object, message: string): void
}

export interface SandboxOptions {
  /** Folder of the state; created when absent. Only one sandbox may run per folder. */
  readonly folder: string
  /** Port to listen on; 0 takes a free port. */
  readonly port: number
  /** @default `localhost`: the loopback addresses of both families */
  readonly host?: string
  /** @default the system's clock */
  readonly clock?: Clock
  readonly log?: SandboxLog
  /** Redirect URIs of the demo application; they replace the registered list. @default the stored list */
  readonly redirectUris?: readonly string[]
  /** Port of the mail server; a free port is used when it is taken, and for 0. @default no mail server */
  readonly smtpPort?: number
  /** Port of the DNS server; a free port is used when it is taken, and for 0. @default no DNS server */
  readonly dnsPort?: number
  /**
   * Address to which the mail server reports bounces and deliveries, and the signing secret. @default no reports; a
   * generated secret
   */
  readonly mailReports?: { readonly url?: string | undefined; readonly secret?: string | undefined }
  /** Addresses to which stand-ins send webhooks, and the signing secrets. @default no webhooks; generated secrets */
  readonly endpoints?: EndpointOptions
  /** Resolves when the endpoints listen: until then Stripe's events wait. @default they are sent at once */
  readonly listening?: Promise<void>
}

export interface Sandbox {
  /** Origin without a path: each network has its own prefix, e.g. `<origin>/x`. */
  readonly origin: string
  readonly port: number
  /** The demo application and account of each network. `demo.json` in the folder (mode 0600) has the same facts. */
  readonly demo: Demos
  /** Address and credentials of the mail server. `demo.json` names it `smtp`. */
  readonly mail: { readonly url: string; readonly port: number; readonly reportSecret: string } | null
  /** Address of the DNS server, e.g. `127.0.0.1:5353`. `demo.json` names it `dns`. */
  readonly dns: { readonly address: string; readonly port: number } | null
  /** Addresses to which stand-ins send webhooks, and the secrets. `demo.json` names them `endpoints`. */
  readonly endpoints: Endpoints
  /** Cuts every connection, including those that a fault holds open, and closes the state. */
  stop(): Promise<void>
}

/**
 * Starts the local stand-ins for all third parties on one origin and resolves when they answer.
 * @throws the listening error of Node (`EADDRINUSE` and others) when the port is not available
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, port, host = 'localhost', clock = systemClock, log, redirectUris, smtpPort, dnsPort, mailReports, endpoints: agreed = {} } = options
  const state = openState(folder)
  const faults = createFaults(state)
  const requests = createRequestLog()
  const endpoints = openEndpoints(state, agreed)
  let origin = ''
  const other = (name: string) => networks.find(one => one.name === name)
  const deps: Deps = {
    state,
    faults,
    clock,
    origin: () => origin,
    other,
    endpoints,
    ...(redirectUris && { redirectUris }),
    ...(options.listening && { listening: options.listening }),
  }
  const played = new Map(twinNames.map(name => [name, twins[name].play(name, deps) as Played]))
  const networks: readonly Network[] = [
    ...[...played.values()].map(({ network }) => network),
    ...Object.entries(vendors).map(([name, vendor]) => vendor.play(name, deps)),
  ]
  state.commit()
  let mail: MailServer | null = null
  let names: DnsServer | null = null
  const mails: Watched = {
    name: smtp,
    received: query => mail?.received(query.get('to')) ?? [],
    controls: { emit: input => mail?.controls.emit(input) ?? 'The mail server is not there yet.' },
  }
  const zone: Watched = {
    name: dns,
    received: () => names?.received() ?? [],
    controls: { dns: input => names?.controls.dns(input) ?? 'The server of DNS is not there yet.' },
  }
  const watched = [...networks, ...(smtpPort === undefined ? [] : [mails]), ...(dnsPort === undefined ? [] : [zone])]
  const control = createControl({ networks: watched, faults, requests })

  const standsAt = (path: string) => networks.find(one => path === `/${one.name}` || path.startsWith(`/${one.name}/`))
  const answer = async (call: Call): Promise<Reply> => {
    if (isControl(call.path)) return control(call)
    const network = standsAt(call.path)
    if (!network) return json(404, { error: `Nothing is played here; there are ${networks.map(one => `/${one.name}`).join(', ')} and /_control.` }, 'refused')
    const reply = await network.answer({ ...call, path: call.path.slice(network.name.length + 1) })
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
        ...reply.caller,
        ...(reply.app !== undefined && { app: reply.app }),
        ...(reply.headerNames && { headerNames: reply.headerNames }),
      })
    return reply
  }

  const listener: RequestListener = (request, response) => {
    read(request, path => standsAt(path)?.takes)
      .then(async call => {
        const reply = call
          ? await answer(call)
          : json(413, { title: 'Payload Too Large', status: 413, detail: 'Payload Too Large', type: 'about:blank' }, 'refused')
        state.commit()
        await deliver(response, reply)
      })
      .catch((error: unknown) => {
        if (request.destroyed && !request.complete) return
        log?.error({ err: error, path: request.url?.split('?')[0] }, 'the sandbox could not answer')
        if (response.headersSent) return void response.destroy()
        return deliver(response, json(500, { title: 'Internal Server Error', status: 500, detail: 'Something is broken.', type: 'about:blank' }, 'refused'))
      })
  }

  const servers = await listen(listener, host, port).catch((error: unknown) => {
    state.close()
    throw error
  })
  try {
    const ground = { state, faults, requests, clock, host }
    if (smtpPort !== undefined) mail = await startMailServer({ ...ground, port: smtpPort, ...(mailReports && { reports: mailReports }), ...(log && { log }) })
    if (dnsPort !== undefined) names = await startDnsServer({ ...ground, port: dnsPort })
    state.commit()
  } catch (error) {
    await Promise.all([...servers.map(close), mail?.stop()])
    state.close()
    throw error
  }
  const bound = (servers[0]!.address() as AddressInfo).port
  origin = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
  const demoOf = (name: PlayedName): Demo => {
    const { demo, others } = played.get(twinOf(name))!
    return others?.[name] ?? demo
  }
  const facts = ofPlayed(name => {
    const { clientId, clientSecret, account } = demoOf(name)
    return { clientId, clientSecret, account }
  })
  writeFileSync(
    join(folder, 'demo.json'),
    `${JSON.stringify({ origin, ...facts, endpoints, ...(mail && { smtp: mail.url, mailReports: mail.reportSecret }), ...(names && { dns: names.address }) }, null, 2)}\n`,
    { mode: 0o600 },
  )
  log?.info(
    { origin },
    `the sandbox plays ${[...Object.values(twins), ...Object.values(vendors)].map(({ title }) => title).join(', ')}${mail ? ', a mail server' : ''}${names ? ', DNS' : ''}`,
  )

  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    for (const network of networks) network.stop?.()
    await Promise.all([...servers.map(close), mail?.stop(), names?.stop()])
    state.close()
  }
  const demo: Demos = ofPlayed(name => ({
    ...demoOf(name),
    async grant(id) {
      const grant = await demoOf(name).grant(id)
      state.commit()
      return grant
    },
  }))
  return {
    origin,
    port: bound,
    demo,
    mail: mail && { url: mail.url, port: mail.port, reportSecret: mail.reportSecret },
    dns: names && { address: names.address, port: names.port },
    endpoints,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/**
 * Listens on one address, or on both loopback families under the same port; on a machine without IPv6 only on the IPv4
 * address.
 */
async function listen(listener: RequestListener, host: string, port: number): Promise<Server[]> {
  if (host !== 'localhost') return [await listenOn(served(listener), host, port)]
  for (let attempt = 1; ; attempt += 1) {
    const first = await listenOn(served(listener), '127.0.0.1', port)
    try {
      return [first, await listenOn(served(listener), '::1', (first.address() as AddressInfo).port)]
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return [first]
      await close(first)
      if (code !== 'EADDRINUSE' || port !== 0 || attempt === 5) throw error
    }
  }
}

const served = (listener: RequestListener): Server => createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, listener)

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
