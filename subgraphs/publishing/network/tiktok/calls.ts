import type { Outbound, OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import type { RefusalReason } from '../publication.ts'
import { readJson } from '../wire/json.ts'

/**
 * TikTok's information about a creator:
 * https://developers.tiktok.com/doc/content-posting-api-reference-query-creator-info
 */
export interface Creator {
  readonly creator_username: string
  readonly privacy_level_options: readonly string[]
  readonly comment_disabled: boolean
  readonly duet_disabled: boolean
  readonly stitch_disabled: boolean
  readonly max_video_post_duration_sec: number
}

interface Enveloped<Data> {
  readonly data: Data
  readonly error: { readonly code?: string; readonly message?: string }
}

/** A clear no of TikTok. */
export interface No {
  readonly outcome: 'refused'
  readonly code: RefusalReason
  readonly detail: string
}

export interface Told<Data> {
  readonly answer: OutboundAnswer
  /** Data of the answer; null for a refusal or an invalid answer. */
  readonly data: Partial<Data> | null
  readonly no: No | null
}

/**
 * TikTok's error codes, by reason of refusal:
 * https://developers.tiktok.com/doc/content-posting-api-reference-direct-post#error_codes
 */
const codes: Readonly<Record<string, RefusalReason>> = {
  access_token_invalid: 'ACCESS_EXPIRED',
  rate_limit_exceeded: 'RATE_LIMITED',
  spam_risk_too_many_posts: 'RATE_LIMITED',
  spam_risk_too_many_pending_share: 'RATE_LIMITED',
  reached_active_user_cap: 'RATE_LIMITED',
  invalid_param: 'CONTENT_REFUSED',
  invalid_params: 'CONTENT_REFUSED',
}

/** Creates calls of TikTok's API, which wraps every answer in an envelope, and uses 64-bit numbers. */
export function createCalls({ apiUrl }: { readonly apiUrl: string }, outbound: Outbound) {
  const told = async <Data extends object>(asked: Promise<OutboundAnswer>): Promise<Told<Data>> => {
    const answer = await asked
    const { data, error } = readJson<Enveloped<Data>>(answer.text)
    const no = refusalOf(answer, error)
    return { answer, data: no || answer.status >= 300 ? null : (data ?? null), no }
  }
  const authorized = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` })
  return {
    get: <Data extends object>(accessToken: string, path: string) => told<Data>(outbound(`${apiUrl}${path}`, { headers: authorized(accessToken) })),
    post: <Data extends object>(accessToken: string, path: string, body: object) =>
      told<Data>(
        outbound(`${apiUrl}${path}`, {
          method: 'POST',
          headers: { ...authorized(accessToken), 'content-type': 'application/json; charset=UTF-8' },
          body: JSON.stringify(body),
        }),
      ),
  }
}

export type Calls = ReturnType<typeof createCalls>

function refusalOf({ status }: OutboundAnswer, error: Enveloped<never>['error'] | undefined): No | null {
  if (status < 400 && (!error?.code || error.code === 'ok')) return null
  if (status >= 500 || status === 408) return null
  const detail = ([error?.code, error?.message].filter(Boolean).join(': ') || `status ${status}`).slice(0, 300)
  const code = codes[error?.code ?? ''] ?? (status === 401 && !error?.code ? 'ACCESS_EXPIRED' : status === 429 ? 'RATE_LIMITED' : 'NETWORK_REFUSED')
  return { outcome: 'refused', code, detail }
}
