import type { CallOptions } from '../../../../platform/ask.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import type { Gateway } from '../network.ts'
import type { RateLimit, RefusalReason, Unsent } from '../publication.ts'
import { readJson } from '../wire/json.ts'

/** The channel's access token, and the organization to which the gateway attributes the call. */
export interface Asking {
  readonly accessToken: string
  readonly organizationId?: string | null
}

/** A refusal by YouTube or by the gateway. */
export type No =
  | { readonly outcome: 'refused'; readonly code: RefusalReason; readonly detail: string; readonly limit?: RateLimit }
  | { readonly outcome: 'unknown'; readonly detail: string }
  | Unsent

/** Creates calls of the Data API through the gateway to providers, which counts them. */
export function createCalls(gateway: Gateway) {
  return {
    /** @param path YouTube's path: `youtube/v3/…`, `upload/youtube/v3/…` @throws OutboundFailure */
    ask: ({ accessToken, organizationId = null }: Asking, path: string, { headers, ...options }: CallOptions = {}): Promise<OutboundAnswer> =>
      gateway(`/platform/youtube/${path}`, organizationId, { ...options, headers: { ...headers, 'x-connection-token': accessToken } }),
  }
}

export type Calls = ReturnType<typeof createCalls>

export const read = <Shape extends object>({ text }: OutboundAnswer): Partial<Shape> => readJson<Shape>(text)

/** An error of Google's: https://developers.google.com/youtube/v3/docs/errors */
interface Problem {
  readonly error: { readonly message?: string; readonly errors?: readonly { readonly reason?: string; readonly domain?: string }[] }
}

/** A refusal of the gateway's own. */
interface GatewayProblem {
  readonly code: string
  readonly detail: string
  readonly reason: string
  readonly resetsAt: string
  readonly outcome: string
}

const limits = new Set(['quotaExceeded', 'dailyLimitExceeded', 'rateLimitExceeded', 'userRateLimitExceeded', 'uploadLimitExceeded', 'uploadRateLimitExceeded'])
const media = new Set(['mediaBodyRequired', 'invalidFilename', 'videoFileTooLarge'])

/** Classifies an unsuccessful answer: only a definite refusal is one. */
export function noOf(answer: OutboundAnswer): No {
  return /^application\/problem\+json\b/.test(answer.headers.get('content-type') ?? '') ? noOfGateway(answer) : noOfYoutube(answer)
}

/**
 * Classifies a refusal by the gateway, after which the call never reached YouTube; the operator must correct missing
 * permissions or limits, and the post waits.
 */
function noOfGateway(answer: OutboundAnswer): No {
  const { code, detail: said, reason, resetsAt, outcome } = read<GatewayProblem>(answer)
  const detail = (said ?? `the gateway answered ${answer.status}`).slice(0, 300)
  if (code === 'BUDGET_EXCEEDED') return { outcome: 'refused', code, detail }
  if (code === 'RATE_LIMITED' && reason === 'QUOTA_EXHAUSTED') {
    const until = resetsAt ? new Date(resetsAt) : null
    return { outcome: 'refused', code, detail, ...(until && { limit: { limit: 0, remaining: 0, resetsAt: until } }) }
  }
  return answer.status >= 500 && outcome !== 'not_sent' ? { outcome: 'unknown', detail } : { outcome: 'unsent', detail }
}

function noOfYoutube(answer: OutboundAnswer): No {
  const { status } = answer
  const { error } = read<Problem>(answer)
  const reason = error?.errors?.[0]?.reason
  const detail = ([reason, error?.message?.replace(/<[^>]+>/g, '')].filter(Boolean).join(': ') || `YouTube answered ${status}`).slice(0, 300)
  if (status >= 500 || status === 408 || status < 400) return { outcome: 'unknown', detail }
  return { outcome: 'refused', code: codeOf(status, reason), detail }
}

function codeOf(status: number, reason = ''): RefusalReason {
  if (status === 401) return 'ACCESS_EXPIRED'
  if (status === 429 || limits.has(reason)) return 'RATE_LIMITED'
  if (media.has(reason)) return 'MEDIA_FAILED'
  return status === 400 ? 'CONTENT_REFUSED' : 'NETWORK_REFUSED'
}

/** Classifies a call without an answer. */
export const unanswered = (error: unknown): No => {
  if (!(error instanceof OutboundFailure)) return { outcome: 'unknown', detail: (error as Error).message }
  return error.sent ? { outcome: 'unknown', detail: error.message } : { outcome: 'unsent', detail: error.message }
}
