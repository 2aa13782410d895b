import type { Reply } from './network.ts'
import { pause } from './network.ts'
import type { Collection, State } from './state.ts'

/**
 * The faults that can be armed, and when each is spent. A network that cannot show one leaves it armed.
 *
 * A network of posts spends them by calls that create one, vendors of models by POSTs, catalogues by reads.
 *
 * - `status`: a call that would create a post is refused with that HTTP status; nothing is published.
 * - `status-after-accept`: the post is published, then the call is answered with that HTTP status, as a front does that lost its server.
 * - `timeout-after-accept`: the post is published, then the call is never answered.
 * - `accept-then-reset`: the post is published, then the connection is cut.
 * - `slow`: the post is published, then answered after `delayMs`: no byte comes before.
 * - `reset-mid-stream`: the call is taken, and the connection cut in the middle of the answer.
 * - `malformed`: the call is taken, and answered with 200, the right type, and what is not JSON.
 * - `wrong-type`: the call is taken, and answered with 200 and a page.
 * - `endless`: the call is taken, and its answer goes on for as long as somebody listens.
 * - `expired-token`: a good access token is answered as an expired one, on any authenticated call.
 * - `slow-renewal`: a refresh token is exchanged, then answered after `delayMs`.
 * - `listing-lag`: the listing of an account's posts leaves out those younger than `delayMs`.
 * - `media-status`: a call that uploads a picture or a film, or makes a container of one, is refused with that HTTP status.
 * - `processing`: what was uploaded is told as in progress for `delayMs`.
 * - `processing-error`: what was uploaded is told as not to be had.
 * - `grant-revoked`: every token of the account that calls is good no more, and its next renewal is refused for good.
 * - `profile-status`: a call that asks whose account it is is refused with that HTTP status.
 * - `gone`: a call is answered as one for what is there no more, with 410.
 * - `webhook-twice`: an event is sent twice.
 * - `webhook-late`: an event is sent after `delayMs`; the ones that follow overtake it.
 * - `webhook-lost`: an event is never sent.
 * - `webhook-bad-signature`: an event is signed with another secret.
 * - `none`: disarms.
 */
export const faultKinds = [
  'none',
  'status',
  'status-after-accept',
  'timeout-after-accept',
  'accept-then-reset',
  'slow',
  'reset-mid-stream',
  'malformed',
  'wrong-type',
  'endless',
  'expired-token',
  'slow-renewal',
  'listing-lag',
  'media-status',
  'processing',
  'processing-error',
  'grant-revoked',
  'profile-status',
  'gone',
  'webhook-twice',
  'webhook-late',
  'webhook-lost',
  'webhook-bad-signature',
] as const

export type FaultKind = (typeof faultKinds)[number]

/** A fault as it stands armed for one network. */
export interface ArmedFault {
  readonly network: string
  readonly fault: FaultKind
  /** User name of the only account whose calls spend it. @default whoever calls */
  readonly account?: string
  /** Beginning of the only paths whose calls spend it, where a twin has several services. @default any path */
  readonly path?: string
  /** How many calls it still spoils. */
  readonly times: number
  /** HTTP status of a fault that answers with one, 400 to 599. */
  readonly status?: number
  /** Milliseconds, for `slow`, `slow-renewal`, `listing-lag`, `processing` and `webhook-late`. */
  readonly delayMs?: number
  /** For `status` 429: seconds until the limit named in the answer's headers opens again. @default 900 at X; vendors name no time */
  readonly resetSeconds?: number
  /** For `status` 429 of vendors of models: what they give as its reason in place of a rate that was passed. */
  readonly code?: 'insufficient_quota'
}

/** The armed faults of all networks; they survive a restart. */
export interface Faults {
  /** Arms a fault in place of what was armed for its network, or for its account or path there; `none` without either disarms the whole network. */
  arm(fault: ArmedFault): void
  armed(): readonly ArmedFault[]
  /**
   * Spends one use of the account's or the path's fault, or else of the network's, if it is of one of these kinds.
   * @param account user name of who calls
   * @param path    what is called
   */
  take(network: string, kinds: readonly FaultKind[], account?: string, path?: string): ArmedFault | undefined
}

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

/** User names that may be asked for and that faults may name. */
export const accountName = /^[a-z0-9_]{1,30}$/

const answering: readonly FaultKind[] = ['status', 'status-after-accept', 'media-status', 'profile-status']
const delaying: readonly FaultKind[] = ['slow', 'slow-renewal', 'listing-lag', 'processing', 'webhook-late']
const listed = (kinds: readonly FaultKind[]): string =>
  kinds
    .map(kind => `"${kind}"`)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ')

/**
 * Reads a fault as a client writes it: `{ network, fault, account?, path?, times = 1, status?, delayMs?, resetSeconds?, code? }`.
 * @returns the fault, or a sentence that says what is wrong with it
 */
export function readFault(input: unknown, networks: readonly string[]): ArmedFault | string {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return 'The body is not a JSON object such as {"network":"x","fault":"status","status":503,"times":1}.'
  const { network, fault, account, path, times = 1, status, delayMs, resetSeconds, code, ...others } = input as Record<string, unknown>
  const unknown = Object.keys(others)
  if (unknown.length > 0)
    return `${unknown.join(', ')} is not known here: a fault has network, fault, account, path, times, status, delayMs, resetSeconds and code.`
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

/** What every network that answers calls in full can show. */
const spoils = [
  'status',
  'status-after-accept',
  'timeout-after-accept',
  'accept-then-reset',
  'slow',
  'reset-mid-stream',
  'malformed',
  'wrong-type',
  'endless',
] as const satisfies readonly FaultKind[]

/** How a network spoils a call. */
export interface Spoiling {
  /** Refuses as the network does. */
  refuse(fault: ArmedFault & { readonly status: number }): Reply
  /** Takes the call and answers it. */
  take(): Reply | Promise<Reply>
  /** The answer that never ends, of a call that was taken. @default blanks, one every twentieth of a second */
  endless?: (() => Reply) | undefined
  /** User name of who calls, where callers have one. */
  readonly account?: string
  /** What is called, where faults may name paths. */
  readonly path?: string
}

/** Answers a call, spoilt by the fault that is armed for the network, if any is. A call that is refused anyway spends none: ask before. */
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

/** How many pieces of a stream arrive before it is cut. */
const piecesBeforeCut = 4

/** A body of which the first part arrives, and then nothing but the end of the connection. */
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
    // What was written is on its way before the cut, which would take it along.
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

/** Says which networks are played here, for an answer to a wrong or missing name. */
export function unknownNetwork(network: unknown, networks: readonly string[]): string {
  return `network is ${network === undefined || network === null ? 'missing' : JSON.stringify(network)}: expected one of ${networks.join(', ')}.`
}

const isWhole = (value: unknown, from: number, to: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
