import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Usage } from '../../engines/models/prices.ts'
import { withoutSecrets } from '../../engines/third-party/credentials.ts'

/** Reason of a failed attempt, in the log of calls and the metrics. */
export type FailureName =
  | 'rate_limited'
  | 'insufficient_quota'
  | 'bad_request'
  | 'refused_credential'
  | 'not_found'
  | 'server_error'
  | 'timeout'
  | 'unreachable'
  | 'cut'
  | 'too_large'
  | 'wrong_type'
  | 'malformed'
  | 'not_json'

/** Failures of an attempt after which it is unknown whether the provider worked. */
const unclear: ReadonlySet<FailureName> = new Set(['timeout', 'cut', 'too_large', 'wrong_type', 'malformed', 'not_json'])

/** Statuses by which a proxy reports that the provider behind it accepted the request and did not answer in time. */
const gaveUpWaiting: ReadonlySet<number> = new Set([504, 524])

/** A failed attempt. Its message may be shown only where the provider itself rejected the request (`bad_request`). */
export class AttemptFailure extends Error {
  readonly failure: FailureName
  /** The HTTP status; null where none came. */
  readonly status: number | null
  /** Time to wait after a 429, in ms; null where the provider names none. */
  readonly retryAfterMs: number | null
  /** The part of the request that the provider named. */
  readonly param: string | null
  /** Whether the request reached the provider, or may have. */
  readonly sent: boolean
  /** The provider's error code: `context_length_exceeded`. */
  readonly providerCode: string | null
  /** Usage that the provider reported for an unusable answer; null without any. */
  readonly used: Usage | null
  constructor(
    failure: FailureName,
    status: number | null,
    message: string,
    more: {
      readonly retryAfterMs?: number | null
      readonly param?: string | null
      readonly sent?: boolean
      readonly providerCode?: string | null
      readonly used?: Usage | null
    } = {},
  ) {
    super(message)
    this.name = 'AttemptFailure'
    this.failure = failure
    this.status = status
    this.retryAfterMs = more.retryAfterMs ?? null
    this.param = more.param ?? null
    this.sent = more.sent ?? true
    this.providerCode = more.providerCode ?? null
    this.used = more.used ?? null
  }

  /** Whether the provider may have worked, and charge for it: it accepted the request and did not reject it. */
  get mayCost(): boolean {
    if (!this.sent) return false
    return unclear.has(this.failure) || (this.status !== null && gaveUpWaiting.has(this.status))
  }

  /**
   * Whether the failure counts against the provider. A request can be such that no model answers it in JSON, which is
   * not the provider's fault.
   */
  get isProviders(): boolean {
    return this.failure !== 'not_json'
  }

  /** Whether the next candidate is tried: after every failure but a wrong request. */
  get moves(): boolean {
    return this.failure !== 'bad_request'
  }
}

/**
 * Cooldown in ms after a 429 without a time, the maximum that one may request, and the one after an exhausted quota.
 */
const limited = { unnamedMs: 10_000, mostMs: 300_000, quotaMs: 600_000 } as const

/** Returns the cooldown of a limit's failure; null for other failures. */
export function restOf({ failure, retryAfterMs }: AttemptFailure): number | null {
  if (failure === 'insufficient_quota') return limited.quotaMs
  if (failure !== 'rate_limited') return null
  return Math.min(limited.mostMs, Math.max(retryAfterMs ?? limited.unnamedMs, 1))
}

/** A provider's error in the common format: `{ error: { message, type, param, code } }`, or the message alone. */
export interface ProvidersError {
  readonly message: string | null
  readonly type: string | null
  readonly code: string | null
  readonly param: string | null
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads the body of an error; never throws. */
function readProvidersError(text: string): ProvidersError {
  try {
    const parsed = JSON.parse(text) as Record<string, unknown> | unknown[]
    // Google's compatible wire puts it into a list.
    const { error, message } = (Array.isArray(parsed) ? parsed[0] : parsed) as { error?: unknown; message?: unknown }
    const found = (typeof error === 'object' && error !== null ? error : { message: textOf(error) ?? message }) as Record<string, unknown>
    return { message: textOf(found.message), type: textOf(found.type), code: textOf(found.code), param: textOf(found.param) }
  } catch {
    return { message: null, type: null, code: null, param: null }
  }
}

/** Returns a provider's error code if it is a plain word: other text could repeat anything. */
export const plainCode = (code: unknown): string | null => (typeof code === 'string' && /^[a-z][a-z_]{0,63}$/.test(code) ? code : null)

/**
 * Returns the error code in OpenAI's terms, which clients act on: Anthropic has none for a conversation that is too
 * long.
 */
const codeIn = (code: string | null, message: string | null): string | null =>
  plainCode(code) ?? (code === null && /^prompt is too long\b/i.test(message ?? '') ? 'context_length_exceeded' : null)

/**
 * Converts an error answer to a failure.
 * @param now milliseconds, for a Retry-After that is a date
 * @param secrets of the request: some providers repeat them, and callers must not learn them
 */
export function failureOf(status: number, headers: Headers, text: string, now: number, secrets: readonly (string | null)[] = []): AttemptFailure {
  const { message, type, code, param } = readProvidersError(text)
  if (status === 429) {
    const isQuota = code === 'insufficient_quota' || type === 'insufficient_quota'
    return new AttemptFailure(isQuota ? 'insufficient_quota' : 'rate_limited', status, 'The provider limits its calls.', {
      retryAfterMs: retryAfter(headers, now),
    })
  }
  if (status === 401 || status === 403) return new AttemptFailure('refused_credential', status, 'The provider refused the credential.')
  if (status === 404) return new AttemptFailure('not_found', status, 'The provider does not know the model.')
  if (status >= 400 && status < 500) {
    const told = (words: string | null) => words && withoutSecrets(words, secrets)
    const sentence = told(message) || `The provider refused the request with status ${status}.`
    return new AttemptFailure('bad_request', status, sentence, { param: told(param)?.slice(0, 200) ?? null, providerCode: codeIn(code, message) })
  }
  return new AttemptFailure('server_error', status, `The provider answered with status ${status}.`)
}

/** Returns the milliseconds of Retry-After in any of its formats; null without one. */
function retryAfter(headers: Headers, now: number): number | null {
  const precise = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(precise) && precise >= 0) return precise
  const given = headers.get('retry-after')
  if (given === null) return null
  const seconds = Number(given)
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000
  const at = Date.parse(given)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Converts an `OutboundFailure` to an attempt's failure; anything else is rethrown. */
export function failureOfWay(error: unknown): AttemptFailure {
  if (error instanceof AttemptFailure) return error
  if (!(error instanceof OutboundFailure)) throw error
  if (error.kind === 'late') return new AttemptFailure('timeout', null, 'The provider did not answer in time.', { sent: error.sent })
  if (error.kind === 'large') return new AttemptFailure('too_large', null, 'The answer of the provider is too long.')
  return new AttemptFailure(
    error.sent ? 'cut' : 'unreachable',
    null,
    error.sent ? 'The connection to the provider broke.' : 'The provider could not be reached.',
    { sent: error.sent },
  )
}
