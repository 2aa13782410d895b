import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Call, Control, Deps, Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'
import { type Marks, marksOf, sendWebhook } from './standard-webhooks.ts'

/** A callback on a batch, or a request for a decision, that was taken. */
interface ReceivedMessage extends Marks {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly path: string
  /** The raw body. */
  readonly text: string
}

type Decision = 'pending' | 'hold' | 'allow' | 'deny'

interface PolicyRequest {
  readonly id: string
  readonly actionHash: string
  readonly callbackUrl: string
  readonly text: string
  readonly decision: Decision
  /** The hash that was decided on. */
  readonly decidedHash: string
  readonly decidedAt: string | null
}

/** The decision that the service takes for a counterparty on its own, and whether it calls back. */
const counterparties: Readonly<Record<string, { readonly decision: Decision; readonly callsBack: boolean }>> = {
  'allow.peer': { decision: 'allow', callsBack: true },
  'deny.peer': { decision: 'deny', callsBack: true },
  'hold.peer': { decision: 'hold', callsBack: true },
  'silence.peer': { decision: 'pending', callsBack: false },
  'poll.peer': { decision: 'allow', callsBack: false },
}

const texts = ['id', 'organizationId', 'counterparty', 'actionHash', 'callbackUrl', 'expiresAt'] as const
const policyVersion = 'sandbox-1'
const reasonOf = (decision: Decision): string => `The sandbox decides ${decision}.`

/**
 * Stand-in for the settlement and policy service: it accepts callbacks on batches, and decides on actions that cross
 * organizations.
 */
export const settlement: Vendor = { title: 'the settlement and policy service', play }

function play(name: string, { state, faults, clock, endpoints }: Deps): Network {
  const received = state.collection<ReceivedMessage>(`${name}.received`, 2_000)
  const requests = state.collection<PolicyRequest>(`${name}.requests`, 2_000)
  const { secret } = endpoints['settlement-policy']

  const tellDecision = ({ id, callbackUrl, decision, decidedHash }: PolicyRequest, bent: { signature?: 'good' | 'bad'; ageSeconds?: number } = {}) =>
    sendWebhook({
      ...{ url: callbackUrl, secret, now: clock.now(), ...bent },
      body: {
        type: 'policy.decided',
        timestamp: clock.now().toISOString(),
        data: { id, decision, actionHash: decidedHash, reason: reasonOf(decision), policyVersion },
      },
    })

  const note = (call: Call, marks: Marks): void =>
    received.set(randomUUID(), { receivedAt: clock.now().toISOString(), path: `/${name}${call.path}`, ...marks, text: textOf(call) })

  const decide = (request: PolicyRequest, decision: Decision, decidedHash: string): PolicyRequest => {
    const decided = { ...request, decision, decidedHash, decidedAt: clock.now().toISOString() }
    requests.set(request.id, decided)
    return decided
  }

  const take = (call: Call, marks: Marks, wish: Wish): Reply => {
    note(call, marks)
    const request: PolicyRequest = {
      ...{ id: wish.id, actionHash: wish.actionHash, decidedHash: wish.actionHash, callbackUrl: wish.callbackUrl, text: textOf(call) },
      ...{ decision: 'pending', decidedAt: null },
    }
    requests.set(wish.id, request)
    const { decision, callsBack } = counterparties[wish.counterparty]!
    const decided = decision === 'pending' ? request : decide(request, decision, wish.actionHash)
    if (callsBack) setImmediate(() => void tellDecision(decided))
    return json(202, { id: wish.id, decision: 'pending' }, 'accepted')
  }

  const refused = ({ status }: { readonly status: number }): Reply => refuse(status, 'The sandbox was told to refuse this.')

  const answerRequest = (call: Call): Reply | Promise<Reply> => {
    const marks = marksOf(call, secret, clock.now())
    if (!marks) return refuse(401, 'The signature is missing, wrong, or too old.')
    if (call.method === 'GET') {
      const request = requests.get(decodeURIComponent(call.path.slice('/v1/policy-requests/'.length)))
      if (!request) return refuse(404, 'There is no such request.')
      const { id, decision, decidedHash: actionHash, decidedAt } = request
      return json(200, { id, decision, actionHash, reason: decidedAt && reasonOf(decision), policyVersion, decidedAt }, 'read')
    }
    const wish = readWish(textOf(call))
    if (typeof wish === 'string') return refuse(400, wish)
    const earlier = requests.get(wish.id)
    if (earlier)
      return earlier.text === textOf(call) ? json(202, { id: wish.id, decision: 'pending' }, 'read') : refuse(409, 'The id is that of another request.')
    return spoilt(faults, name, { refuse: refused, take: () => take(call, marks, wish) })
  }

  /**
   * Decides on an action and calls back the requested number of times; a callback with a bad signature records no
   * decision.
   */
  const emit: Control = async ({ event, id, decision, actionHash, times = 1, signature = 'good', ageSeconds = 0, ...others }) => {
    const [unknown] = Object.keys(others)
    if (unknown !== undefined) return `${unknown} is not known here: a decision has event, id, decision, actionHash, times, signature and ageSeconds.`
    if (event !== 'policy-decision') return `event is ${JSON.stringify(event)}: expected "policy-decision".`
    const request = typeof id === 'string' ? requests.get(id) : undefined
    if (!request) return `id is ${JSON.stringify(id)}: there is no such request.`
    if (decision !== 'allow' && decision !== 'deny' && decision !== 'hold') return `decision is ${JSON.stringify(decision)}: expected allow, deny or hold.`
    if (signature !== 'good' && signature !== 'bad') return `signature is ${JSON.stringify(signature)}: expected "good" or "bad".`
    if (typeof times !== 'number' || !Number.isInteger(times) || times < 1 || times > 100) return 'times is no whole number from 1 to 100.'
    if (typeof ageSeconds !== 'number' || !Number.isInteger(ageSeconds)) return 'ageSeconds is no whole number.'
    const hash = typeof actionHash === 'string' ? actionHash : request.actionHash
    const isFinal = request.decision === 'allow' || request.decision === 'deny'
    const wanted = { ...request, decision, decidedHash: hash } as const
    const said = signature === 'bad' || ageSeconds > 300 || isFinal ? wanted : decide(request, decision, hash)
    state.commit()
    return { statuses: await Promise.all(Array.from({ length: times }, () => tellDecision(said, { signature, ageSeconds }))) }
  }

  return {
    name,
    takes: { mostBytes: 1024 * 1024 },
    received: () => [...received.values()],
    controls: { emit },
    answer(call) {
      const where = `${call.method} ${call.path}`
      if (where === 'POST /v1/policy-requests' || /^GET \/v1\/policy-requests\/[^/]+$/.test(where)) return answerRequest(call)
      if (where !== 'POST /callbacks') return refuse(404, 'Not found.')
      const marks = marksOf(call, endpoints['settlement-callbacks'].secret, clock.now())
      if (!marks) return refuse(401, 'The signature is missing, wrong, or too old.')
      return spoilt(faults, name, {
        refuse: refused,
        take() {
          note(call, marks)
          return { status: 204, headers: {}, body: '', outcome: 'accepted' }
        },
      })
    },
  }
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

type Wish = Readonly<Record<(typeof texts)[number], string>>

function readWish(text: string): Wish | string {
  let body: Readonly<Record<string, unknown>>
  try {
    body = JSON.parse(text)
  } catch {
    return 'The body is no JSON.'
  }
  if (typeof body !== 'object' || body === null) return 'The body is no JSON object.'
  const missing = texts.find(field => typeof body[field] !== 'string' || body[field] === '')
  if (missing !== undefined) return `${missing} is missing.`
  const wish = body as Wish
  const { connector, tool } = (body.action ?? {}) as Readonly<Record<string, unknown>>
  if (!connector || !tool) return 'action has to have connector, tool and arguments.'
  if (!/^sha256:[0-9a-f]{64}$/.test(wish.actionHash)) return 'actionHash is no hash.'
  if (!URL.canParse(wish.callbackUrl) || Number.isNaN(Date.parse(wish.expiresAt))) return 'callbackUrl or expiresAt cannot be read.'
  return Object.hasOwn(counterparties, wish.counterparty) ? wish : 'counterparty is unknown.'
}
