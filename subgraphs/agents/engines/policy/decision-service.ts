import { doForOrganization } from '../../../../platform/caller/cause.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import type { PolicyRequestRow } from '../../stores/run/policy-request.ts'
import type { Json } from '../../stores/workflow.ts'
import type { SaidDecision } from './rules.ts'

/** Where the settlement and policy service is, and what requests and decisions are signed with. */
export interface PolicySettings {
  readonly url: string
  /** `whsec_…`: the first signs, each of them is taken from the service. */
  readonly secrets: readonly string[]
}

/** What the service is called with. */
export interface PolicyService {
  readonly settings: PolicySettings
  /** The platform's own way out: the address is the operator's. */
  readonly outbound: Outbound
  /** Origin under which the service reaches us. */
  readonly publicUrl: string
}

/** Time limit of one call, in ms. */
const timeoutMs = 5_000
const maxReason = 500

/** The path at which the service tells its decisions. */
export const addressOfPolicyDecisions = '/agents/api/policy/decisions'

/** The request as the service gets it: the same bytes each time. */
const bodyOf = (request: PolicyRequestRow, publicUrl: string): string => {
  const { id, organizationId, counterparty, connectorId: connector, tool, arguments: given, actionHash, purpose, createdBy, expiresAt } = request
  return JSON.stringify({
    ...{ id, organizationId, counterparty, action: { connector, tool, arguments: given }, actionHash, purpose },
    ...{ requestedBy: createdBy, callbackUrl: `${publicUrl}${addressOfPolicyDecisions}`, expiresAt: expiresAt.toISOString() },
  })
}

async function call(service: PolicyService, request: PolicyRequestRow, method: 'GET' | 'POST', now: Date): Promise<OutboundAnswer | null> {
  const { settings, outbound, publicUrl } = service
  const { id, organizationId } = request
  const { Webhook } = await import('standardwebhooks')
  const body = method === 'POST' ? bodyOf(request, publicUrl) : ''
  const path = method === 'POST' ? '' : `/${id}`
  const headers = {
    ...(method === 'POST' && { 'content-type': 'application/json' }),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(settings.secrets[0]!).sign(id, now, body),
  }
  const options = { method, headers, timeoutMs, ...(method === 'POST' && { body }) }
  try {
    return await doForOrganization(organizationId, () => outbound(`${settings.url}/v1/policy-requests${path}`, options))
  } catch (error) {
    if (error instanceof OutboundFailure) return null
    throw error
  }
}

/** What became of a call of the service. */
export type Reached =
  /** It took the request, and may have decided by now. */
  | { readonly is: 'accepted'; readonly hasDecided: boolean }
  | { readonly is: 'decided'; readonly said: SaidDecision }
  | { readonly is: 'undecided' }
  /** It does not know the request. */
  | { readonly is: 'unknown' }
  /** Without an answer that counts; the status of one that does not. */
  | { readonly is: 'unreached'; readonly status: number | null }

/** Hands a request over to the service. The same request again has the same answer. */
export async function sendRequest(service: PolicyService, request: PolicyRequestRow, now: Date): Promise<Reached> {
  const answer = await call(service, request, 'POST', now)
  if (!answer || answer.status < 200 || answer.status > 299) return { is: 'unreached', status: answer?.status ?? null }
  const decision = parse(answer.text)?.decision
  return { is: 'accepted', hasDecided: typeof decision === 'string' && decision !== 'pending' }
}

/** Asks the service how it decided on a request. */
export async function pollDecision(service: PolicyService, request: PolicyRequestRow, now: Date): Promise<Reached> {
  const answer = await call(service, request, 'GET', now)
  if (answer?.status === 404) return { is: 'unknown' }
  if (answer?.status !== 200) return { is: 'unreached', status: answer?.status ?? null }
  const given = parse(answer.text)
  if (given?.decision === 'pending') return { is: 'undecided' }
  const said = given && readDecision(given)
  return said ? { is: 'decided', said } : { is: 'unreached', status: 200 }
}

function parse(text: string): Readonly<Record<string, Json>> | null {
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, Json>>) : null
  } catch {
    return null
  }
}

const words = (value: unknown, most: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, most).replaceAll('\0', '').toWellFormed() : null

/** Reads a decision as the service writes it; null for what is none. */
export function readDecision({ decision, actionHash, reason, policyVersion }: Readonly<Record<string, unknown>>): SaidDecision | null {
  if (decision !== 'allow' && decision !== 'deny' && decision !== 'hold') return null
  const hash = words(actionHash, 200)
  if (hash === null && decision === 'allow') return null
  return { decision, actionHash: hash, reason: words(reason, maxReason), policyVersion: words(policyVersion, 200) }
}
