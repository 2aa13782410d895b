import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer, WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Handle, Medium, Preparation } from '../publication.ts'
import { readJson } from '../wire/json.ts'
import { inParts, sendBytes } from '../wire/upload.ts'
import { type Calls, listOf, refusalOf, saidBy } from './calls.ts'

/** Media uploaded to LinkedIn: their URNs, in the order of the post. */
export interface LeftMedia {
  readonly kind: 'images' | 'videos'
  readonly urns: readonly string[]
  /** Number of status requests made so far. */
  readonly asked: number
}

interface Initialized {
  readonly value: {
    readonly image?: string
    readonly uploadUrl?: string
    readonly video?: string
    readonly uploadToken?: string
    readonly uploadInstructions?: readonly { readonly uploadUrl: string; readonly firstByte: number; readonly lastByte: number }[]
  }
}

/**
 * Initial delay in ms before LinkedIn is asked whether it has processed a medium: pictures take a moment, and the delay
 * grows with each request.
 */
const soonestMs = { images: 1_000, videos: 3_000 }
const againAfter = ({ kind, asked }: LeftMedia): number => Math.min(soonestMs[kind] * 2 ** asked, 30_000)
/**
 * Number of status requests after which a medium that LinkedIn still waits for counts as not uploaded, whatever
 * LinkedIn answered to the upload.
 */
const patience = 3

/** Thrown to end an upload that LinkedIn refuses. */
class Refused extends Error {
  readonly end: Preparation
  constructor(end: Preparation) {
    super('LinkedIn refuses a medium')
    this.end = end
  }
}

/**
 * Uploads pictures and films: https://learn.microsoft.com/linkedin/marketing/community-management/shares/images-api and
 * …/videos-api. Uploads are invisible until a post refers to them, so that every step can be repeated.
 */
export function createMedia(calls: Calls, outbound: WayOut) {
  async function initialize(accessToken: string, kind: LeftMedia['kind'], request: object): Promise<Initialized['value']> {
    const answer = await calls.post(accessToken, `/rest/${kind}?action=initializeUpload`, { initializeUploadRequest: request })
    const { value } = readJson<Initialized>(taken(answer).text)
    if (!value) throw unanswered(answer)
    return value
  }

  async function uploadImage(accessToken: string, owner: string, medium: Medium): Promise<string> {
    const { image, uploadUrl } = await initialize(accessToken, 'images', { owner })
    if (!image || !uploadUrl) throw new Error('LinkedIn did not say where a picture goes')
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': medium.mimeType }
    taken(await sendBytes(outbound, uploadUrl, await medium.open(), { headers, length: medium.bytes }))
    return image
  }

  async function uploadVideo(accessToken: string, owner: string, medium: Medium): Promise<string> {
    const facts = { owner, fileSizeBytes: medium.bytes, uploadCaptions: false, uploadThumbnail: false }
    const { video, uploadToken = '', uploadInstructions: parts } = await initialize(accessToken, 'videos', facts)
    if (!video || !parts?.length) throw new Error('LinkedIn did not say where a film goes')
    const uploadedPartIds: string[] = []
    const film = inParts(await medium.open())
    try {
      for (const { uploadUrl, firstByte, lastByte } of parts) {
        const bytes = await film.take(lastByte - firstByte + 1)
        const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/octet-stream' }
        const answer = taken(await sendBytes(outbound, uploadUrl, bytes, { headers, length: bytes.length }))
        uploadedPartIds.push((answer.headers.get('etag') ?? '').replaceAll('"', ''))
      }
    } finally {
      await film.close()
    }
    const finalizeUploadRequest = { video, uploadToken, uploadedPartIds }
    taken(await calls.post(accessToken, '/rest/videos?action=finalizeUpload', { finalizeUploadRequest }))
    return video
  }

  /** Returns whether LinkedIn has processed the uploads; null when it knows none of them. */
  async function readiness(accessToken: string, left: LeftMedia): Promise<Preparation | null> {
    const asked = left.asked + 1
    const answer = taken(await calls.call(accessToken, `/rest/${left.kind}?ids=${listOf(left.urns)}`))
    const { results = {} } = readJson<{ results: Readonly<Record<string, { readonly status?: string; readonly processingFailureReason?: string }>> }>(
      answer.text,
    )
    const found = left.urns.map(urn => results[urn])
    const failed = found.find(one => one?.status === 'PROCESSING_FAILED')
    if (failed) return { outcome: 'refused', code: 'MEDIA_FAILED', detail: failed.processingFailureReason ?? 'LinkedIn could not work up a medium' }
    if (found.every(one => one?.status === 'AVAILABLE')) return { outcome: 'ready', handle: { kind: left.kind, urns: left.urns } }
    if (asked % patience === 0 && found.some(one => one?.status === 'WAITING_UPLOAD')) return null
    return { outcome: 'processing', handle: { ...left, asked }, againInMs: againAfter(left) }
  }

  return {
    /** Uploads media to LinkedIn. Never throws. @param owner the person or organization that will publish them */
    async prepare(accessToken: string, owner: string, media: readonly Medium[], kept: Handle | null): Promise<Preparation> {
      if (media.length === 0) return { outcome: 'ready', handle: {} }
      try {
        const earlier = leftIn(kept)
        const known = earlier && (await readiness(accessToken, earlier))
        if (known) return known
        const isFilm = media[0]!.kind === 'VIDEO'
        const urns: string[] = []
        for (const medium of media) urns.push(await (isFilm ? uploadVideo : uploadImage)(accessToken, owner, medium))
        const left: LeftMedia = { kind: isFilm ? 'videos' : 'images', urns, asked: earlier ? earlier.asked + 1 : 0 }
        return (await readiness(accessToken, left)) ?? { outcome: 'processing', handle: { ...left }, againInMs: againAfter(left) }
      } catch (error) {
        if (error instanceof Refused) return error.end
        if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
        return { outcome: 'refused', code: 'MEDIA_FAILED', detail: (error as Error).message }
      }
    },
  }
}

/** Returns the uploads of an earlier preparation. */
export function leftIn(handle: Handle | null): LeftMedia | null {
  const { kind, urns, asked } = handle ?? {}
  return (kind === 'images' || kind === 'videos') && Array.isArray(urns)
    ? { kind, urns: urns as readonly string[], asked: typeof asked === 'number' ? asked : 0 }
    : null
}

/** Returns a successful answer, and throws for any other. */
function taken(answer: OutboundAnswer): OutboundAnswer {
  if (answer.status < 300) return answer
  const no = refusalOf(answer)
  if (!no) throw unanswered(answer)
  throw new Refused(no.code === 'CONTENT_REFUSED' ? { ...no, code: 'MEDIA_FAILED' } : no)
}

/** Treats an unclear answer as retryable, because uploads are invisible until a post refers to them. */
const unanswered = (answer: OutboundAnswer): Refused => new Refused({ outcome: 'unsent', detail: `LinkedIn answered ${answer.status}: ${saidBy(answer)}` })
