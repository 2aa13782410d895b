import { AccessExpired } from '../network.ts'
import type { RefusalReason } from '../publication.ts'
import type { Calls } from './calls.ts'

/** TikTok's progress with a post: https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status */
export type Progress =
  /** `postId`: null for a post that only the account itself can see. */
  | { readonly state: 'published'; readonly postId: string | null }
  | { readonly state: 'failed'; readonly code: RefusalReason; readonly detail: string }
  /** `uploaded`: number of bytes that TikTok has received. */
  | { readonly state: 'working'; readonly uploaded: number | null }

interface Status {
  readonly status: string
  readonly fail_reason: string
  readonly uploaded_bytes: number
}

const reasons: Readonly<Record<string, RefusalReason>> = {
  auth_removed: 'ACCESS_EXPIRED',
  spam_risk_too_many_posts: 'RATE_LIMITED',
  spam_risk_user_banned_from_posting: 'NETWORK_REFUSED',
  spam_risk_text: 'CONTENT_REFUSED',
  spam_risk: 'CONTENT_REFUSED',
}

/** @throws AccessExpired, and any other error when TikTok does not answer properly */
export async function progressOf(calls: Calls, accessToken: string, publishId: string): Promise<Progress> {
  const { answer, data, no } = await calls.post<Status>(accessToken, '/v2/post/publish/status/fetch/', { publish_id: publishId })
  if (no?.code === 'ACCESS_EXPIRED') throw new AccessExpired('TikTok')
  if (no && /^invalid_publish_id/.test(no.detail)) return { state: 'failed', code: 'MEDIA_FAILED', detail: no.detail }
  if (!data?.status) throw new Error(`TikTok does not say how far a post is: ${no?.detail ?? answer.status}`)
  if (data.status === 'FAILED') {
    const why = data.fail_reason ?? 'no reason given'
    return { state: 'failed', code: reasons[why] ?? 'MEDIA_FAILED', detail: `TikTok could not publish it: ${why}` }
  }
  if (data.status !== 'PUBLISH_COMPLETE') return { state: 'working', uploaded: data.uploaded_bytes ?? null }
  // TikTok's ids are 64-bit numbers, more than a JavaScript number holds.
  return { state: 'published', postId: /"publicaly_available_post_id"\s*:\s*\[\s*"?(\d{1,20})/.exec(answer.text)?.[1] ?? null }
}
