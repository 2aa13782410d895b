import { type ArmedFault, type FaultKind, type Faults, faultKinds, pause, type Reply, spoils } from './network.ts'
import type { Collection, State } from './state.ts'

const keyOf = ({ network, account, path }: Pick<ArmedFault, 'network' | 'account' | 'path'>): string =>
  [network, ...(account === undefined ? [] : [account]), ...(path === undefined ? [] : [path])].join(' ')

export function createFaults(state: State): Faults {
  const faults: Collection<ArmedFault> = state.collection('faults', 50)
  return {
    arm(fault) {
      if (fault.fault !== 'none') return faults.set(keyOf(fault), fault)
      const isMeant = (one: ArmedFault): boolean =>
        one.network === fault.network && (fault.account === undefined || one.account === fault.account) && (fault.path === undefined || one.path === fault.path)
      for (const one of [...faults.values()]) if (isMeant(one)) faults.delete(keyOf(one))
    },
    armed: () => [...faults.values()],
    take(network, kinds, account, path = '') {
      const fits = (one: ArmedFault): boolean =>
        one.network === network &&
        kinds.includes(one.fault) &&
        (one.account === undefined || one.account === account) &&
        (one.path === undefined || path.startsWith(one.path))
      const found = [...faults.values()].filter(fits)
      const fault = found.find(one => one.account !== undefined || one.path !== undefined) ?? found[0]
      if (!fault) return undefined
      if (fault.times === 1) faults.delete(keyOf(fault))
      else faults.set(keyOf(fault), { ...fault, times: fault.times - 1 })
      return fault
    },
  }
}

/** Valid user names for logins and faults. */
export const accountName = /^[a-z0-9_]{1,30}$/

const answering: readonly FaultKind[] = ['status', 'status-after-accept', 'media-status', 'profile-status']
const delaying: readonly FaultKind[] = ['slow', 'slow-renewal', 'listing-lag', 'processing', 'webhook-late']
const listed = (kinds: readonly FaultKind[]): string =>
  kinds
    .map(kind => `"${kind}"`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ')

/**
 * Parses a fault sent by a client: `{ network, fault, account?, path?, times = 1, status?, delayMs?, resetSeconds?,
 * code? }`.
 * @returns the fault, or a sentence that says what is wrong with it
 */
export function readFault(input: unknown, networks: readonly string[]): ArmedFault | string {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return 'The body is not a JSON object such as {"network":"x","fault":"status","status":503,"times":1}.'
  const { network, fault, account, app, path = pathOf(app), times = 1, status, delayMs, resetSeconds, code, ...others } = input as Record<string, unknown>
  const unknown = Object.keys(others)
  if (unknown.length > 0)
    return `${unknown.join(', ')} is not known here: a fault has network, fault, account, app, path, times, status, delayMs, resetSeconds and code.`
  if (typeof network !== 'string' || !networks.includes(network)) return unknownNetwork(network, networks)
  const kind = faultKinds.find(one => one === fault)
  if (!kind) return `fault is ${JSON.stringify(fault)}: expected one of ${faultKinds.join(', ')}.`
  if (!isWhole(times, 1, 1000)) return `times is ${JSON.stringify(times)}: expected a whole number from 1 to 1000.`
  if (account !== undefined && !(typeof account === 'string' && accountName.test(account)))
    return `account is ${JSON.stringify(account)}: expected a user name, up to 30 of a-z, 0-9 and _.`
  if (path !== undefined && !(typeof path === 'string' && /^\/\S{0,199}$/.test(path)))
    return `path is ${JSON.stringify(path)}: expected the beginning of a path, such as "/api".`
  const answers = answering.includes(kind)
  if (answers ? !isWhole(status, 400, 599) : status !== undefined && status !== null)
    return answers
      ? `status is ${JSON.stringify(status)}: expected a whole number from 400 to 599.`
      : `status goes only with the faults ${listed(answering)}, not with "${kind}".`
  const delayed = delaying.includes(kind)
  if (delayed ? !isWhole(delayMs, 1, 600_000) : delayMs !== undefined)
    return delayed
      ? `delayMs is ${JSON.stringify(delayMs)}: "${kind}" needs milliseconds from 1 to 600000.`
      : `delayMs goes only with ${listed(delaying)}, not with "${kind}".`
  if (resetSeconds !== undefined && !(status === 429 && isWhole(resetSeconds, 0, 86_400)))
    return `resetSeconds is ${JSON.stringify(resetSeconds)}: expected whole seconds from 0 to 86400, and only with status 429.`
  if (code !== undefined && !(status === 429 && code === 'insufficient_quota'))
    return `code is ${JSON.stringify(code)}: expected "insufficient_quota", and only with status 429.`
  return {
    network,
    fault: kind,
    ...(typeof account === 'string' && { account }),
    ...(typeof path === 'string' && { path }),
    times,
    ...(isWhole(status, 400, 599) ? { status } : {}),
    ...(isWhole(delayMs, 1, 600_000) ? { delayMs } : {}),
    ...(isWhole(resetSeconds, 0, 86_400) ? { resetSeconds } : {}),
    ...(code === 'insufficient_quota' ? { code } : {}),
  }
}

/** The path of one of several apps that a stand-in plays, which a fault may name instead. */
const pathOf = (app: unknown): string | undefined => (typeof app === 'string' ? `/${app}/` : undefined)

/** How a network applies a fault to a call. */
export interface Spoiling {
  /** Returns the refusal in the network's own format. */
  refuse(fault: ArmedFault & { readonly status: number }): Reply
  /** Accepts the call and answers it. */
  take(): Reply | Promise<Reply>
  /** Returns an answer that never ends, for a call that was accepted. @default blanks, one every 50 ms */
  endless?: (() => Reply) | undefined
  /** User name of the calling account, for networks with accounts. */
  readonly account?: string
  /** Called path, for networks whose faults may name paths. */
  readonly path?: string
}

/**
 * Answers a call and applies the fault that is armed for the network, if any. A call that is refused anyway must not
 * use up a fault: check that before.
 */
export async function spoilt(faults: Faults, network: string, { refuse, take, endless, account, path }: Spoiling): Promise<Reply> {
  const fault = faults.take(network, spoils, account, path)
  if (!fault) return take()
  const marks = { outcome: 'faulted', fault: fault.fault } as const
  if (fault.fault === 'status') return { ...refuse({ ...fault, status: fault.status! }), ...marks }
  const reply = await take()
  if (reply.status >= 400) return { ...reply, ...marks }
  switch (fault.fault) {
    case 'status-after-accept':
      return { ...refuse({ ...fault, status: fault.status! }), ...marks }
    case 'timeout-after-accept':
      return { ...reply, ...marks, delivery: 'hold' }
    case 'accept-then-reset':
      return { ...reply, ...marks, delivery: 'reset' }
    case 'slow':
      return { ...reply, ...marks, delayMs: fault.delayMs! }
    case 'malformed':
      return { ...reply, ...marks, body: '{"id": "cut off in the mid' }
    case 'wrong-type':
      return { ...reply, ...marks, headers: { ...reply.headers, 'content-type': 'text/html; charset=utf-8' }, body: '<!doctype html><title>Welcome</title>' }
    case 'endless':
      return { ...(endless ? endless() : goesOn(reply)), ...marks }
    default:
      return { ...reply, ...marks, body: cutShort(reply.body) }
  }
}

/** Number of stream pieces that arrive before the stream is cut. */
const piecesBeforeCut = 4

/** Returns a body whose first part arrives before the connection closes early. */
const cutShort = (body: Reply['body']): Reply['body'] =>
  async function* (signal) {
    if (typeof body !== 'function') yield body.slice(0, Math.ceil(body.length / 2))
    else {
      let left = piecesBeforeCut
      for await (const piece of body(signal)) {
        yield piece
        left -= 1
        if (left === 0) break
      }
    }
    // Lets written data leave before the connection is cut, which would discard it.
    await pause(50, signal)
    throw new Error('cut by a fault')
  }

const goesOn = (reply: Reply): Reply => ({
  ...reply,
  async *body(signal) {
    while (!signal.aborted) {
      yield ' '
      await pause(50, signal)
    }
  },
})

/** Builds the error sentence that lists the networks of the sandbox, for a wrong or missing name. */
export function unknownNetwork(network: unknown, networks: readonly string[]): string {
  return `network is ${network === undefined || network === null ? 'missing' : JSON.stringify(network)}: expected one of ${networks.join(', ')}.`
}

const isWhole = (value: unknown, from: number, to: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
