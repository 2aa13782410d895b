import { randomUUID } from 'node:crypto'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer, WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Network } from '../network.ts'
import type { Handle, Medium, Preparation } from '../publication.ts'
import { readJson } from '../wire/json.ts'
import { inParts, sendBytes } from '../wire/upload.ts'
import type { XApplication } from './oauth.ts'
import { saidBy } from './problem.ts'

/** Size of an upload's part in bytes: X accepts requests of up to 5 MB, including the form around the part. */
const partBytes = 4 * 1024 * 1024

const categories = { IMAGE: 'tweet_image', GIF: 'tweet_gif', VIDEO: 'tweet_video' } as const

interface Uploaded {
  readonly data: {
    readonly id: string
    readonly processing_info?: {
      readonly state: 'pending' | 'in_progress' | 'succeeded' | 'failed'
      readonly check_after_secs?: number
      readonly error?: { readonly message?: string }
    }
  }
}

/** Thrown to end the preparation with X's answer. */
class Ended extends Error {
  readonly preparation: Preparation
  constructor(preparation: Preparation) {
    super('X does not take a medium')
    this.preparation = preparation
  }
}

/**
 * Uploads pictures and films in parts, and waits until X has processed them:
 * https://docs.x.com/x-api/media/quickstart/media-upload-chunked. Uploads are invisible until a post refers to them, so
 * that every step can be repeated.
 */
export function createXMedia({ apiUrl }: Pick<XApplication, 'apiUrl'>, outbound: WayOut): Required<Pick<Network, 'prepare'>> {
  const call = async (accessToken: string, path: string, body?: object): Promise<Uploaded['data']> => {
    const answer = await outbound(`${apiUrl}/2/media${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${accessToken}`, ...(body && { 'content-type': 'application/json' }) },
    })
    return taken(answer)
  }

  /**
   * The same for upload results of X. An HTML page or a truncated answer counts as no result: uploads are not public,
   * so they are repeated.
   */
  const told = async (...asked: Parameters<typeof call>): Promise<Uploaded['data']> => {
    const said = await call(...asked)
    if (typeof said.id !== 'string' || !said.id) throw new Ended({ outcome: 'unsent', detail: 'X answered something that names no upload' })
    return said
  }

  async function upload(accessToken: string, { kind, mimeType, bytes, altText, open }: Medium): Promise<Uploaded['data']> {
    const begun = await told(accessToken, '/upload/initialize', { media_type: mimeType, total_bytes: bytes, media_category: categories[kind] })
    const film = inParts(await open())
    try {
      for (let sent = 0, index = 0; sent < bytes; sent += partBytes, index += 1) {
        const { body, contentType } = framed(await film.take(Math.min(partBytes, bytes - sent)), index)
        const headers = { authorization: `Bearer ${accessToken}`, 'content-type': contentType }
        taken(await sendBytes(outbound, `${apiUrl}/2/media/upload/${begun.id}/append`, body, { method: 'POST', headers, length: body.length }))
      }
    } finally {
      await film.close()
    }
    const ended = await told(accessToken, `/upload/${begun.id}/finalize`, {})
    // https://docs.x.com/x-api/media/create-media-metadata
    if (altText && kind !== 'VIDEO') await call(accessToken, '/metadata', { id: begun.id, metadata: { alt_text: { text: altText.slice(0, 1000) } } })
    return ended
  }

  return {
    async prepare({ accessToken, media }, kept) {
      try {
        let states: Uploaded['data'][] = []
        if (kept) for (const id of pendingOf(kept)) states.push(await told(accessToken, `/upload?command=STATUS&media_id=${id}`))
        else for (const medium of media) states.push(await upload(accessToken, medium))
        const mediaIds = kept ? idsOf(kept) : states.map(({ id }) => id)
        const broken = states.find(({ processing_info: info }) => info?.state === 'failed')
        if (broken) return { outcome: 'refused', code: 'MEDIA_FAILED', detail: broken.processing_info?.error?.message ?? 'it gave the processing up' }
        states = states.filter(({ processing_info: info }) => info && info.state !== 'succeeded')
        const handle: Handle = { mediaIds, pending: states.map(({ id }) => id) }
        if (states.length === 0) return { outcome: 'ready', handle }
        const seconds = Math.max(...states.map(({ processing_info: info }) => info?.check_after_secs ?? 1))
        return { outcome: 'processing', handle, againInMs: Math.min(Math.max(seconds, 1), 60) * 1000 }
      } catch (error) {
        if (error instanceof Ended) return error.preparation
        if (error instanceof OutboundFailure) return { outcome: 'unsent', detail: error.message }
        return { outcome: 'refused', code: 'MEDIA_FAILED', detail: (error as Error).message }
      }
    },
  }
}

const texts = (value: Handle[string]): readonly string[] => (Array.isArray(value) ? value.filter(each => typeof each === 'string') : [])

/** Returns the ids of a post's uploads, in its order. */
export const idsOf = (handle: Handle | null): readonly string[] => texts(handle?.mediaIds)

const pendingOf = (handle: Handle): readonly string[] => texts(handle.pending)

/** Encodes a part as a multipart form (RFC 7578), with its number. */
function framed(part: Uint8Array, index: number): { readonly body: Uint8Array; readonly contentType: string } {
  const boundary = randomUUID()
  const field = `--${boundary}\r\ncontent-disposition: form-data; name="segment_index"\r\n\r\n${index}\r\n`
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="media"; filename="part"\r\ncontent-type: application/octet-stream\r\n\r\n`
  return {
    body: Buffer.concat([Buffer.from(field + file), part, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

/** Returns X's data about an upload. @throws Ended when X refuses it */
function taken(answer: OutboundAnswer): Uploaded['data'] {
  if (answer.status >= 200 && answer.status < 300) return readJson<Uploaded>(answer.text).data ?? { id: '' }
  const detail = saidBy(answer)
  if (answer.status === 401) throw new Ended({ outcome: 'refused', code: 'ACCESS_EXPIRED', detail })
  if (answer.status === 429) throw new Ended({ outcome: 'refused', code: 'RATE_LIMITED', detail })
  if (answer.status >= 500 || answer.status === 408 || answer.status < 400)
    throw new Ended({ outcome: 'unsent', detail: `X answered ${answer.status}: ${detail}` })
  throw new Ended({ outcome: 'refused', code: 'MEDIA_FAILED', detail })
}
