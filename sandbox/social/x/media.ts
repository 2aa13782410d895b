import type { Call, ReceivedMedium, Reply } from '../../network.ts'
import { json, textOf } from '../../network.ts'
import { spoiltMedia } from '../../oauth/media.ts'
import type { Account } from '../../oauth/world.ts'
import { createDigest, type Digest } from '../films/read.ts'
import { filmFault, filmRules } from '../films/rules.ts'
import { invalidRequest, problem } from './problems.ts'
import type { Upload, World } from './world.ts'

/** What may be uploaded as what, and how large: https://docs.x.com/x-api/media/quickstart/best-practices */
const categories: Readonly<Record<Upload['category'], { readonly types: RegExp; readonly most: number; readonly isWorkedUp: boolean }>> = {
  tweet_image: { types: /^image\/(?:jpeg|png|webp)$/, most: 5 * 1024 * 1024, isWorkedUp: false },
  tweet_gif: { types: /^image\/gif$/, most: 15_000_000, isWorkedUp: true },
  tweet_video: { types: /^video\/(?:mp4|quicktime|webm|mp2t)$/, most: 512_000_000, isWorkedUp: true },
}

/** A part is 5 MB at most; the frame of the form comes on top. */
export const mostPart = 5 * 1024 * 1024

/** Digests of uploads whose parts are coming: a restart forgets them, and those uploads end. */
const digests = new WeakMap<World, Map<string, Digest>>()
const digestsOf = (world: World): Map<string, Digest> => {
  const known = digests.get(world) ?? new Map<string, Digest>()
  digests.set(world, known)
  return known
}

function objectOf(call: Call): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(textOf(call) || '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const wrong = (name: string, value: unknown, message: string): Reply => invalidRequest({ parameters: { [name]: [String(value)] }, message })

/** `POST /2/media/upload/initialize`. https://docs.x.com/x-api/media/initialize-media-upload */
export function initialize(world: World, call: Call, account: Account): Reply {
  const spoilt = spoiltMedia(world, account, problem)
  if (spoilt) return spoilt
  const { media_type: mimeType, total_bytes: total, media_category: category = 'tweet_image', ...others } = objectOf(call) ?? {}
  const strange = Object.keys(others).find(name => !['additional_owners', 'shared'].includes(name))
  if (strange) return wrong('$', strange, `$.${strange}: is not defined in the schema and the schema does not allow additional properties`)
  if (typeof category !== 'string' || !Object.hasOwn(categories, category))
    return wrong('media_category', category, 'The sandbox plays pictures, GIFs and films of posts.')
  const rules = categories[category as Upload['category']]
  if (typeof mimeType !== 'string' || !rules.types.test(mimeType))
    return wrong('media_type', mimeType, 'media_type is not one of those that this category takes.')
  if (typeof total !== 'number' || !Number.isInteger(total) || total < 1 || total > rules.most)
    return wrong('total_bytes', total, 'File size exceeds the limit, or is none.')
  const id = world.newId()
  const upload: Upload = {
    id,
    accountId: account.id,
    mimeType,
    category: category as Upload['category'],
    total,
    segments: 0,
    sent: 0,
    isFinal: false,
    sha256: '',
    readyAt: 0,
    isBroken: false,
    altText: null,
  }
  world.uploads.set(id, upload)
  digestsOf(world).set(id, createDigest())
  return json(200, { data: { id, media_key: keyOf(upload), expires_after_secs: 86_400 } }, 'granted')
}

const keyOf = ({ id, category }: Pick<Upload, 'id' | 'category'>): string => `${category === 'tweet_image' ? 3 : category === 'tweet_gif' ? 16 : 7}_${id}`

/** `POST /2/media/upload/:id/append`, a form with `segment_index` and `media`. https://docs.x.com/x-api/media/append-media-upload */
export async function append(world: World, call: Call, account: Account, id: string): Promise<Reply> {
  const spoilt = spoiltMedia(world, account, problem)
  if (spoilt) return spoilt
  const upload = world.uploads.get(id)
  const digest = digestsOf(world).get(id)
  if (!upload || upload.accountId !== account.id || upload.isFinal || !digest) return problem(404)
  const type = call.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return wrong('content-type', type, 'Parts are sent as multipart/form-data.')
  const form = await new Response(new Uint8Array(call.body), { headers: { 'content-type': type } }).formData().catch(() => undefined)
  const [media, index] = [form?.get('media'), form?.get('segment_index')]
  if (!(media instanceof Blob)) return wrong('media', '', 'media is missing but it is required')
  if (String(index) !== String(upload.segments)) return wrong('segment_index', index, 'segment_index is not the one that comes next.')
  if (media.size > mostPart || upload.sent + media.size > upload.total) return wrong('media', media.size, 'The segment is larger than it may be.')
  digest.update(Buffer.from(await media.arrayBuffer()))
  world.uploads.set(id, { ...upload, segments: upload.segments + 1, sent: upload.sent + media.size })
  return json(200, { data: { expires_at: Math.round(world.clock.now().getTime() / 1000) + 86_400 } }, 'granted')
}

/** `POST /2/media/upload/:id/finalize`. https://docs.x.com/x-api/media/finalize-media-upload */
export function finalize(world: World, _call: Call, account: Account, id: string): Reply {
  const upload = world.uploads.get(id)
  const digest = digestsOf(world).get(id)
  if (!upload || upload.accountId !== account.id || !digest) return problem(404)
  if (upload.sent !== upload.total) return wrong('id', id, `Segments do not add up to ${upload.total} bytes.`)
  const fault = world.faults.take(world.name, ['processing', 'processing-error'], account.username)
  const readyAt = world.clock.now().getTime() + (fault?.fault === 'processing' ? (fault.delayMs ?? 0) : 0)
  const isRefused = upload.category === 'tweet_video' && filmFault(filmRules.x, digest.film()) !== null
  const ended: Upload = { ...upload, isFinal: true, sha256: digest.digest(), readyAt, isBroken: isRefused || fault?.fault === 'processing-error' }
  digestsOf(world).delete(id)
  world.uploads.set(id, ended)
  return json(200, { data: shown(world, ended) }, 'granted')
}

/** `GET /2/media/upload?command=STATUS&media_id=`. https://docs.x.com/x-api/media/get-media-upload-status */
export function findUpload(world: World, call: Call, account: Account): Reply {
  const upload = world.uploads.get(call.query.get('media_id') ?? '')
  if (!upload?.isFinal || upload.accountId !== account.id) return problem(404)
  return json(200, { data: shown(world, upload) }, 'read')
}

/** `POST /2/media/metadata`: what a picture shows. https://docs.x.com/x-api/media/create-media-metadata */
export function describe(world: World, call: Call, account: Account): Reply {
  const { id, metadata } = (objectOf(call) ?? {}) as { id?: unknown; metadata?: { alt_text?: { text?: unknown } } }
  const upload = typeof id === 'string' ? world.uploads.get(id) : undefined
  const text = metadata?.alt_text?.text
  if (!upload || upload.accountId !== account.id) return problem(404)
  if (typeof text !== 'string' || text.length > 1000) return wrong('metadata.alt_text.text', text, 'The text has more than 1000 characters, or is none.')
  world.uploads.set(upload.id, { ...upload, altText: text })
  return json(200, { data: { id: upload.id, associated_metadata: { alt_text: { text } } } }, 'granted')
}

type State = 'in_progress' | 'succeeded' | 'failed'

const stateOf = ({ clock }: World, { isBroken, readyAt }: Upload): State =>
  isBroken ? 'failed' : clock.now().getTime() < readyAt ? 'in_progress' : 'succeeded'

function shown(world: World, upload: Upload): object {
  const state = stateOf(world, upload)
  const { isWorkedUp } = categories[upload.category]
  const info = {
    state,
    progress_percent: state === 'succeeded' ? 100 : 50,
    ...(state === 'in_progress' && { check_after_secs: 1 }),
    ...(state === 'failed' && { error: { code: 1, name: 'InvalidMedia', message: 'Unsupported or damaged file' } }),
  }
  const says = isWorkedUp || state !== 'succeeded'
  return { id: upload.id, media_key: keyOf(upload), size: upload.total, expires_after_secs: 86_400, ...(says && { processing_info: info }) }
}

/**
 * The uploads that a post names.
 * @returns undefined when one is not there, is somebody else's or not ready, or they do not go together: four pictures, or a GIF, or a film
 */
export function uploadsOf(world: World, account: Account, media: unknown): readonly Upload[] | undefined {
  const ids = (media as { media_ids?: unknown } | undefined)?.media_ids
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > 4) return undefined
  const uploads = ids.flatMap(id => (typeof id === 'string' && world.uploads.get(id)) || [])
  const isUsable = uploads.every(upload => upload.isFinal && upload.accountId === account.id && stateOf(world, upload) === 'succeeded')
  const goTogether = uploads.length === 1 || uploads.every(({ category }) => category === 'tweet_image')
  return uploads.length === ids.length && isUsable && goTogether ? uploads : undefined
}

/** What readers get of an upload. */
export const receivedOf = ({ mimeType, total, sha256, altText }: Upload): ReceivedMedium => ({
  mimeType,
  bytes: total,
  sha256,
  ...(altText !== null && { altText }),
})
