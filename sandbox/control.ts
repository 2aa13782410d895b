import { readFault, unknownNetwork } from './faults.ts'
import type { Call, FaultKind, Faults, Outcome, Reply, Watched } from './network.ts'
import { json, textOf } from './network.ts'

/**
 * A call that published nothing new, or that a fault answered; of a mail server the command. It never holds a token, a
 * secret, a code, an address or a body.
 */
export interface RequestEntry {
  /** Time of the call, ISO 8601, UTC, milliseconds. */
  readonly at: string
  readonly network: string
  readonly method: string
  readonly path: string
  /** Status of the answer; null when there was no answer. */
  readonly status: number | null
  readonly outcome: Outcome
  readonly fault: FaultKind | null
  /** The network's reason for the refusal; null when it did not refuse. */
  readonly reason: string | null
  /** Who said that it calls, at neighbours that note it. */
  readonly serviceId?: string | null
  readonly appId?: string | null
  /** The app that answered, where a stand-in plays several. */
  readonly app?: string
  readonly headerNames?: readonly string[]
}

/** Keeps the latest calls of each network, at most 500 each, in memory only. */
export interface RequestLog {
  add(entry: RequestEntry): void
  of(network: string): readonly RequestEntry[]
}

export function createRequestLog(): RequestLog {
  const entries = new Map<string, RequestEntry[]>()
  return {
    add(entry) {
      const list = entries.get(entry.network) ?? []
      list.push(entry)
      if (list.length > 500) list.shift()
      entries.set(entry.network, list)
    },
    of: network => entries.get(network) ?? [],
  }
}

/** Whether a path belongs to the sandbox itself and not to a network. */
export const isControl = (path: string): boolean => path === '/' || path.startsWith('/_control/')

/**
 * Answers `/` and the addresses under `/_control`, which belong to the sandbox itself and to no network:
 *
 * - `GET  /`: lists the networks of the sandbox and these addresses
 * - `GET  /_control/received?network=x`: lists what was published, oldest first; for `smtp` the mails, with `&to=`
 * those to one address
 * - `GET  /_control/requests?network=x`: lists refused, faulted and reading calls, oldest first
 * - `GET  /_control/faults`: lists the armed faults
 * - `POST /_control/faults`: arms a fault (faults.ts) and lists the armed faults
 * - `POST /_control/<what>`: changes the state of the network that `network` names; `network` is optional where only
 * one network has that control
 *
 * A mistake is answered with 400 and `{ error }`, one sentence.
 */
export function createControl({
  networks,
  faults,
  requests,
}: {
  networks: readonly Watched[]
  faults: Faults
  requests: RequestLog
}): (call: Call) => Reply | Promise<Reply> {
  const names = networks.map(network => network.name)
  const mistake = (sentence: string, status = 400): Reply => json(status, { error: sentence }, 'refused')

  const ofNetwork = (call: Call, list: (network: Watched) => unknown): Reply => {
    const name = call.query.get('network') ?? undefined
    const network = networks.find(one => one.name === name)
    return network ? json(200, list(network), 'read') : mistake(unknownNetwork(name, names))
  }

  const readBody = (call: Call): { readonly input: unknown } | Reply => {
    // A browser page cannot send this content type to another origin without a preflight request.
    if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) return mistake('Send the body as application/json.', 415)
    try {
      return { input: JSON.parse(textOf(call)) }
    } catch {
      return mistake('The body is not JSON.')
    }
  }

  const arm = (call: Call): Reply => {
    const read = readBody(call)
    if (!('input' in read)) return read
    const fault = readFault(read.input, names)
    if (typeof fault === 'string') return mistake(fault)
    faults.arm(fault)
    return json(200, faults.armed(), 'accepted')
  }

  const tell = (what: string) => async (call: Call) => {
    const read = readBody(call)
    if (!('input' in read)) return read
    if (typeof read.input !== 'object' || read.input === null || Array.isArray(read.input)) return mistake('The body is not a JSON object.')
    const { network: name, ...input } = read.input as Record<string, unknown>
    const hearing = networks.filter(({ controls }) => controls && Object.hasOwn(controls, what))
    const network = name === undefined && hearing.length === 1 ? hearing[0] : hearing.find(one => one.name === name)
    if (!network)
      return mistake(
        unknownNetwork(
          name,
          hearing.map(one => one.name),
        ),
      )
    const answer = await network.controls![what]!(input)
    return typeof answer === 'string' ? mistake(answer) : json(200, answer, 'accepted')
  }

  const contents = (): Reply =>
    json(200, { plays: names.map(name => `/${name}`), received: names.map(name => `/_control/received?network=${name}`), control: Object.keys(routes) }, 'read')

  const told = [...new Set(networks.flatMap(({ controls = {} }) => Object.keys(controls)))]
  const routes: Record<string, (call: Call) => Reply | Promise<Reply>> = {
    'GET /': contents,
    'GET /_control/received': call => ofNetwork(call, network => network.received(call.query)),
    'GET /_control/requests': call => ofNetwork(call, network => requests.of(network.name)),
    'GET /_control/faults': () => json(200, faults.armed(), 'read'),
    'POST /_control/faults': arm,
    ...Object.fromEntries(told.map(what => [`POST /_control/${what}`, tell(what)])),
  }
  return call =>
    routes[`${call.method} ${call.path}`]?.(call) ?? mistake(`There is no ${call.method} ${call.path} here; there are ${Object.keys(routes).join(', ')}.`, 404)
}
