import { setTimeout as sleep } from 'node:timers/promises'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer, WayOut } from '../../../../platform/outbound/outbound.ts'
import { isTrial } from '../network.ts'
import type { Delivery, Handle, Lookup, Medium, Preparation, Publication, RefusalReason } from '../publication.ts'
import { readJson } from '../wire/json.ts'
import { inParts, sendBytes } from '../wire/upload.ts'
import type { Calls, Creator, No } from './calls.ts'
import type { TiktokApplication } from './oauth.ts'
import { type Progress, progressOf } from './status.ts'

/**
 * Size of a chunk in bytes; the last chunk has the rest, less than two chunks:
 * https://developers.tiktok.com/doc/content-posting-api-media-transfer-guide
 */
const chunkBytes = 8 * 1024 * 1024
/** Timeout of the last chunk in ms; after it, it is unknown whether TikTok received it. */
const publishTimeoutMs = 10_000
/**
 * Number of status requests directly after the last chunk, and the pause between them in ms. A slower post is found
 * later by its id.
 */
const [asks, pauseMs] = [3, 1_000]

/**
 * Maximum number of posts that an account may start, and the period of that limit in ms:
 * https://developers.tiktok.com/doc/content-posting-api-reference-direct-post
 */
const [mostBegun, begunWithinMs] = [6, 60_000]

const publicFirst = ['PUBLIC_TO_EVERYONE', 'FOLLOWER_OF_CREATOR', 'MUTUAL_FOLLOW_FRIENDS', 'SELF_ONLY']

/** State after preparation: an upload without its last chunk, before which TikTok publishes nothing. */
interface Left {
  readonly publishId: string
  readonly uploadUrl: string
  readonly username: string
  /** Size of the film in bytes. */
  readonly bytes: number
}

const leftIn = (handle: Handle | null): Left | null => {
  const { publishId, uploadUrl, username, bytes } = handle ?? {}
  if (typeof publishId !== 'string' || typeof uploadUrl !== 'string') return null
  return { publishId, uploadUrl, username: String(username ?? ''), bytes: Number(bytes) }
}

/** The lengths of a film's chunks. */
export function chunksOf(bytes: number): readonly number[] {
  const count = Math.max(1, Math.floor(bytes / chunkBytes))
  return Array.from({ length: count }, (_, at) => (at < count - 1 ? chunkBytes : bytes - (count - 1) * chunkBytes))
}

/** Returns a post's public address; for a private post, which has no id, the account's address. */
export function permalink(accountName: string, id: string): string | null {
  const account = `https://www.tiktok.com/@${accountName.replace(/^@/, '')}`
  if (/^\d{1,20}$/.test(id)) return `${account}/video/${id}`
  return /^v_(?:pub|inbox)_\w+~[\w.~-]+$/.test(id) ? account : null
}

/** Creates direct posts of films: https://developers.tiktok.com/doc/content-posting-api-reference-direct-post */
export function createTiktokPublish(application: TiktokApplication, calls: Calls, outbound: WayOut) {
  /** Sends chunks `from` up to `to` of a film. @returns the first failed answer, else the last; null when there is none */
  async function send(film: Medium, uploadUrl: string, from: number, to: number): Promise<OutboundAnswer | null> {
    const lengths = chunksOf(film.bytes)
    const parts = inParts(await film.open())
    let first = 0
    let answer: OutboundAnswer | null = null
    try {
      for (let at = 0; at < to; at += 1) {
        const chunk = await parts.take(lengths[at]!)
        if (at >= from) {
          const headers = { 'content-type': film.mimeType, 'content-range': `bytes ${first}-${first + chunk.length - 1}/${film.bytes}` }
          const isLast = at === lengths.length - 1
          answer = await sendBytes(outbound, uploadUrl, chunk, {
            headers,
            length: chunk.length,
            ...(isLast && { timeoutMs: publishTimeoutMs, freshConnection: true }),
          })
          if (answer.status >= 300) return answer
        }
        first += chunk.length
      }
      return answer
    } finally {
      await parts.close()
    }
  }

  async function begin({ accessToken, copy, link }: Omit<Publication, 'handle'>, film: Medium): Promise<Preparation> {
    const { answer, data: creator, no } = await calls.post<Creator>(accessToken, '/v2/post/publish/creator_info/query/', {})
    if (no) return notBegun(no)
    if (!creator) return { outcome: 'unsent', detail: `TikTok answered ${answer.status}` }
    const { creator_username: username = '', privacy_level_options: offered = [], max_video_post_duration_sec: most } = creator
    if (most !== undefined && (film.durationMs ?? 0) > most * 1000)
      return { outcome: 'refused', code: 'MEDIA_FAILED', detail: `TikTok takes films of ${most} seconds at most of this account` }
    const chunks = chunksOf(film.bytes)
    const begun = await calls.post<{ publish_id: string; upload_url: string }>(accessToken, '/v2/post/publish/video/init/', {
      post_info: {
        title: link && !copy.includes(link) ? `${copy}\n\n${link}`.trim() : copy,
        privacy_level: isTrial(application) ? 'SELF_ONLY' : (publicFirst.find(level => offered.includes(level)) ?? 'SELF_ONLY'),
        disable_comment: creator.comment_disabled ?? false,
        disable_duet: creator.duet_disabled ?? false,
        disable_stitch: creator.stitch_disabled ?? false,
      },
      source_info: { source: 'FILE_UPLOAD', video_size: film.bytes, chunk_size: chunks[0], total_chunk_count: chunks.length },
    })
    if (begun.no) return notBegun(begun.no)
    const { publish_id: publishId, upload_url: uploadUrl } = begun.data ?? {}
    if (!publishId || !uploadUrl) return { outcome: 'unsent', detail: `TikTok answered ${begun.answer.status}` }
    const sent = await send(film, uploadUrl, 0, chunks.length - 1)
    if (sent && sent.status >= 300) {
      const detail = saidBy(sent)
      return isOpen(sent.status) || sent.status === 429 ? { outcome: 'unsent', detail } : { outcome: 'refused', code: 'MEDIA_FAILED', detail }
    }
    return { outcome: 'ready', handle: { publishId, uploadUrl, username, bytes: film.bytes } }
  }

  const published = (left: Left, { postId }: Extract<Progress, { state: 'published' }>) => {
    const platformPostId = postId ?? left.publishId
    return { platformPostId, permalink: permalink(left.username, platformPostId) ?? '' }
  }

  return {
    permalink,

    /** Uploads a film except its last chunk, which is invisible; a restarted upload leaves one that expires. */
    async prepare(publication: Omit<Publication, 'handle'>, kept: Handle | null): Promise<Preparation> {
      const [film] = publication.media
      if (film?.kind !== 'VIDEO') return { outcome: 'refused', code: 'CONTENT_REFUSED', detail: 'TikTok takes exactly one film' }
      if (leftIn(kept)) return { outcome: 'ready', handle: kept! }
      try {
        return await begin(publication, film)
      } catch (error) {
        if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
        return { outcome: 'refused', code: 'MEDIA_FAILED', detail: (error as Error).message }
      }
    },

    /** Sends the last chunk, by which TikTok publishes, and waits a moment for that. */
    async publish({ accessToken, media, handle }: Publication): Promise<Delivery> {
      const [film] = media
      const left = leftIn(handle)
      if (!film || !left) return { outcome: 'refused', code: 'MEDIA_FAILED', detail: 'the film was not prepared' }
      const last = chunksOf(film.bytes).length - 1
      try {
        const answer = (await send(film, left.uploadUrl, last, last + 1))!
        const { status } = answer
        if (isOpen(status)) return { outcome: 'unknown', detail: saidBy(answer) }
        if (status >= 300) return { outcome: 'refused', code: refusals[status] ?? 'MEDIA_FAILED', detail: saidBy(answer) }
      } catch (error) {
        const { message } = error as Error
        // A part that could not be read was not sent either.
        if (!(error instanceof OutboundFailure)) return { outcome: 'refused', code: 'MEDIA_FAILED', detail: message }
        return error.sent ? { outcome: 'unknown', detail: message } : { outcome: 'unsent', detail: message }
      }
      try {
        for (let asked = 1; asked <= asks; asked += 1) {
          const progress = await progressOf(calls, accessToken, left.publishId)
          if (progress.state === 'published') return { outcome: 'delivered', ...published(left, progress) }
          if (progress.state === 'failed') return { outcome: 'refused', code: progress.code, detail: progress.detail }
          if (asked < asks) await sleep(pauseMs)
        }
        return { outcome: 'unknown', detail: 'TikTok has all of the film, and still works on it' }
      } catch (error) {
        return { outcome: 'unknown', detail: (error as Error).message }
      }
    },

    /** Asks for the status by the upload's id. @throws while TikTok processes a film that is complete */
    async find({ accessToken, handle }: Publication): Promise<Lookup> {
      const left = leftIn(handle)
      if (!left) throw new Error('TikTok is asked by the id of an upload, and there is none')
      const progress = await progressOf(calls, accessToken, left.publishId)
      if (progress.state === 'published') return { found: true, ...published(left, progress) }
      if (progress.state === 'working' && (progress.uploaded === null || progress.uploaded >= left.bytes)) throw new Error('TikTok still works on the film')
      return { found: false, isAnothers: false }
    },
  }
}

/**
 * Converts a refusal to start a post: too many at once is no refusal, because TikTok's limit states when it accepts
 * more.
 */
const notBegun = (no: No): Preparation => (/^rate_limit_exceeded/.test(no.detail) ? { outcome: 'limited', limit: mostBegun, forMs: begunWithinMs } : no)

/** Whether an answer leaves open whether the call had an effect. */
const isOpen = (status: number): boolean => status >= 500 || status === 408

const refusals: Readonly<Record<number, RefusalReason>> = { 401: 'ACCESS_EXPIRED', 403: 'NETWORK_REFUSED', 404: 'NETWORK_REFUSED', 429: 'RATE_LIMITED' }

function saidBy({ text, status }: OutboundAnswer): string {
  const { error, message } = readJson<{ error: { code?: string; message?: string }; message: string }>(text)
  return (error?.message ?? error?.code ?? message ?? `TikTok answered ${status} to a part of the film`).slice(0, 300)
}
