import type { FaultKind, Faults } from './faults.ts'
import { readFault, unknownNetwork } from './faults.ts'
import type { Call, Network, Outcome, Reply } from './network.ts'
import { json } from './network.ts'

/** A call that published nothing new, or met a fault. Never holds a token, a secret, a code or a body. */
export interface RequestEntry {
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string
  readonly network: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly outcome: Outcome
  readonly fault: FaultKind | null
  /** What the network said against it, null when it did not refuse. */
  readonly reason: string | null
}

/** The latest calls of each network, at most 500; a restart forgets them. */
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

/** Whether a path is one of the sandbox's own. */
export const isControl = (path: string): boolean => path === '/' || path.startsWith('/_control/')

/**
 * Answers `/` and the addresses under `/_control`, which belong to the sandbox itself and to no network:
 *
 * - `GET  /`: what is played, and these
 * - `GET  /_control/received?network=x`: what was published, oldest first
 * - `GET  /_control/requests?network=x`: refused, faulted and reading calls, oldest first
 * - `GET  /_control/faults`: what is armed
 * - `POST /_control/faults`: arms a fault (faults.ts) and answers what is armed
 *
 * A mistake is answered with 400 and `{ error }`, one sentence.
 */
export function createControl({ networks, faults, requests }: { networks: readonly Network[]; faults: Faults; requests: RequestLog }): (call: Call) => Reply {
  const names = networks.map(network => network.name)
  const mistake = (sentence: string, status = 400): Reply => json(status, { error: sentence }, 'refused')

  const ofNetwork = (call: Call, list: (network: Network) => unknown): Reply => {
    const name = call.query.get('network') ?? undefined
    const network = networks.find(one => one.name === name)
    return network ? json(200, list(network), 'read') : mistake(unknownNetwork(name, names))
  }

  const arm = (call: Call): Reply => {
    // A page in a browser cannot send this type to another origin without asking first.
    if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) return mistake('Send the fault as application/json.', 415)
    let input: unknown
    try {
      input = JSON.parse(call.body)
    } catch {
      return mistake('The body is not JSON.')
    }
    const fault = readFault(input, names)
    if (typeof fault === 'string') return mistake(fault)
    faults.arm(fault)
    return json(200, faults.armed(), 'accepted')
  }

  const contents = (): Reply =>
    json(200, { plays: names.map(name => `/${name}`), received: names.map(name => `/_control/received?network=${name}`), control: Object.keys(routes) }, 'read')

  const routes: Record<string, (call: Call) => Reply> = {
    'GET /': contents,
    'GET /_control/received': call => ofNetwork(call, network => network.received()),
    'GET /_control/requests': call => ofNetwork(call, network => requests.of(network.name)),
    'GET /_control/faults': () => json(200, faults.armed(), 'read'),
    'POST /_control/faults': arm,
  }
  return call =>
    routes[`${call.method} ${call.path}`]?.(call) ?? mistake(`There is no ${call.method} ${call.path} here; there are ${Object.keys(routes).join(', ')}.`, 404)
}
