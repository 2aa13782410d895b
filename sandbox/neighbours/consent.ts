import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'

const actions = ['accept', 'decline', 'custom']
const purposeNames = ['analytics', 'personalization', 'advertising']

interface Decision {
  readonly id: string
  readonly subjectId: string
  readonly action: string
  readonly purposes: Readonly<Record<string, boolean>>
}

/** Stand-in for the consent service: it records a project's decisions, each id once. */
export const consent: Vendor = {
  title: 'the consent service',
  play(name, { state, faults, clock }): Network {
    const received = state.collection<object>(`${name}.received`, 1_000)
    const byId = state.collection<string>(`${name}.decisions`, 5_000)
    return {
      name,
      received: () => [...received.values()],
      answer(call) {
        const project = /^\/v1\/projects\/([\w-]{1,64})\/decisions$/.exec(call.path)?.[1]
        if (project === undefined || call.method !== 'POST') return refuse(404, 'Not found.')
        const text = textOf(call)
        const decision = readDecision(text)
        if (typeof decision === 'string') return refuse(400, decision)
        const { id, subjectId, action, purposes } = decision
        if (call.headers['idempotency-key'] !== id) return refuse(400, 'Idempotency-Key has to be the id of the decision.')
        const earlier = byId.get(`${project} ${id}`)
        if (earlier !== undefined) return earlier === text ? json(200, { id }, 'read') : refuse(409, 'The id is that of another decision.')
        return spoilt(faults, name, {
          refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
          take() {
            byId.set(`${project} ${id}`, text)
            received.set(randomUUID(), { receivedAt: clock.now().toISOString(), project, id, subjectId, action, purposes, text })
            return json(201, { id }, 'accepted')
          },
        })
      },
    }
  },
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

/** @returns the decision, or a sentence that says what is wrong with it */
function readDecision(text: string): Decision | string {
  let body: Readonly<Record<string, unknown>>
  try {
    body = JSON.parse(text)
  } catch {
    return 'The body is no JSON.'
  }
  if (typeof body !== 'object' || body === null) return 'The body is no JSON object.'
  const missing = ['id', 'subjectId', 'action', 'policyVersion', 'decidedAt'].find(field => typeof body[field] !== 'string' || body[field] === '')
  if (missing !== undefined) return `${missing} is missing.`
  const { action, purposes, decidedAt } = body as unknown as Decision & { readonly decidedAt: string }
  if (!actions.includes(action)) return `action has to be one of ${actions.join(', ')}.`
  if (Number.isNaN(Date.parse(decidedAt))) return 'decidedAt is no time.'
  const values = purposeNames.map(purpose => purposes?.[purpose])
  if (values.some(value => typeof value !== 'boolean')) return `purposes has to have ${purposeNames.join(', ')}.`
  const fits = action === 'custom' || values.every(value => value === (action === 'accept'))
  return fits ? (body as unknown as Decision) : `purposes do not fit ${action}.`
}
