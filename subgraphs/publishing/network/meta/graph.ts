import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { AccessExpired } from '../network.ts'
import type { Delivery, Preparation, RateLimit, RefusalReason } from '../publication.ts'
import { readJson } from '../wire/json.ts'

/** Error format of the Graph API: https://developers.facebook.com/docs/graph-api/guides/error-handling */
interface GraphError {
  readonly message?: string
  readonly code?: number
  readonly error_subcode?: number
  readonly error_user_msg?: string
  readonly fbtrace_id?: string
}

/** Result of a Graph API call: the requested data, or an error. */
export interface GraphAnswer<Shape extends object> {
  readonly status: number
  /** Data of a successful answer; empty when the body is no JSON. */
  readonly said: Partial<Shape>
  /** Error of the answer; null when there is none. */
  readonly error: GraphError | null
}

/** Timeout of a call for which a person may be waiting, in ms. */
const timeoutMs = 8_000

/** Client of the Graph API. */
export interface Graph {
  get<Shape extends object>(path: string, parameters: Readonly<Record<string, string>>, options?: { readonly timeoutMs?: number }): Promise<GraphAnswer<Shape>>
  post<Shape extends object>(
    path: string,
    parameters: Readonly<Record<string, string>>,
    options?: { readonly timeoutMs?: number; readonly freshConnection?: boolean; readonly method?: 'POST' | 'DELETE' },
  ): Promise<GraphAnswer<Shape>>
}

/**
 * Creates a client of the Graph API of one of Meta's networks.
 * @param base base address, including the version where the network has one in its paths
 */
export function createGraph(base: string, outbound: Outbound): Graph {
  const read = <Shape extends object>({ status, text }: OutboundAnswer): GraphAnswer<Shape> => {
    const said = readJson<Shape & { error: GraphError }>(text)
    const error = typeof said.error === 'object' && said.error !== null ? said.error : null
    return { status, said: error || status !== 200 ? {} : (said as Partial<Shape>), error }
  }
  return {
    get: async (path, parameters, options = {}) => read(await outbound(`${base}${path}?${new URLSearchParams(parameters)}`, { timeoutMs, ...options })),
    post: async (path, parameters, options = {}) =>
      read(
        await outbound(`${base}${path}`, {
          method: 'POST',
          timeoutMs,
          ...options,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(parameters).toString(),
        }),
      ),
  }
}

const expired = [102, 190]
const throttled = [4, 9, 17, 32, 341, 613]
const mediaCodes = [324, 352, 389, 9004, 9007, 36_000, 36_001, 36_003]
/** Those of the codes that may mean that the network could not fetch a medium from our address. */
const unfetched = [324, 9004]
/** Error codes that are temporary or without meaning. */
const vague = [-1, 1, 2]
/** Subcode that means suspected spam, under a code with several meanings. */
const spam = 2_207_051

/**
 * Classifies an error: only a definite refusal has a reason.
 * @param hasPlace whether a missing object may be the page or group
 * @returns null for an answer that leaves open whether the call had an effect
 */
export function reasonOf({ status, error }: GraphAnswer<object>, hasPlace: boolean): RefusalReason | null {
  const code = error?.code
  const subcode = error?.error_subcode
  if (status >= 500 || status === 408 || status < 400) return null
  if (code === undefined) return status === 401 ? 'ACCESS_EXPIRED' : status === 429 ? 'RATE_LIMITED' : 'NETWORK_REFUSED'
  if (subcode === spam || code === 368) return 'NETWORK_REFUSED'
  if (expired.includes(code)) return 'ACCESS_EXPIRED'
  if (throttled.includes(code) || (code >= 80_000 && code < 80_015) || status === 429) return 'RATE_LIMITED'
  if (mediaCodes.includes(code)) return 'MEDIA_FAILED'
  if (code === 506) return 'DUPLICATE_CONTENT'
  if (hasPlace && (code === 803 || (code === 100 && subcode === 33) || code === 10 || (code >= 200 && code < 300))) return 'TARGET_UNAVAILABLE'
  if (code === 100 || code === 36_004 || code === 1500) return 'CONTENT_REFUSED'
  if (vague.includes(code) || code === -2) return null
  return 'NETWORK_REFUSED'
}

/** Returns a short error message for people, with the trace id by which the network's support finds the call. */
export function saidOf(title: string, { status, error }: GraphAnswer<object>): string {
  const words = (error?.error_user_msg ?? error?.message ?? `status ${status}`).slice(0, 300)
  return error?.fbtrace_id ? `${title}: ${words} (trace ${error.fbtrace_id.slice(0, 40)})` : `${title}: ${words}`
}

/** Returns the delivery outcome for an answer to the publishing call that contains no post id. */
export function deliveryOf(title: string, answer: GraphAnswer<object>, hasPlace: boolean, limit?: RateLimit): Delivery {
  const code = reasonOf(answer, hasPlace)
  const detail = saidOf(title, answer)
  return code ? { outcome: 'refused', code, detail, ...(limit && { limit }) } : { outcome: 'unknown', detail }
}

/** Returns the delivery outcome for a call without an answer. */
export function unanswered(error: unknown): Delivery {
  const detail = error instanceof Error ? error.message : String(error)
  return error instanceof OutboundFailure && !error.sent ? { outcome: 'unsent', detail } : { outcome: 'unknown', detail }
}

/** Outcome of preparing a post at Meta's networks, which state the remaining limit before anything is created. */
export type GraphPreparation = Exclude<Preparation, { outcome: 'limited' }>

/**
 * Returns the outcome of an unexpected answer to a preparing call; its effects are invisible, so the call may be
 * repeated.
 */
export function preparationOf(title: string, answer: GraphAnswer<object>, hasPlace: boolean): GraphPreparation {
  const code = reasonOf(answer, hasPlace)
  const detail = saidOf(title, answer)
  if (!code) return { outcome: 'unsent', detail }
  return { outcome: 'refused', code, detail, ...(code === 'MEDIA_FAILED' && unfetched.includes(answer.error?.code ?? 0) && { mayPass: true }) }
}

/**
 * Returns the data of a reading call. @throws AccessExpired; any other error when the network does not answer properly
 */
export function tellOf<Shape extends object>(title: string, answer: GraphAnswer<Shape>): Partial<Shape> {
  if (answer.status === 200 && !answer.error) return answer.said
  if (reasonOf(answer, false) === 'ACCESS_EXPIRED') throw new AccessExpired(title)
  throw new Error(saidOf(title, answer))
}
