import { isId } from '../../../../platform/ids.ts'
import type { ByteRange } from '../../../../platform/storage/storage.ts'
import { NotStored } from '../../../../platform/storage/storage.ts'
import { problem } from '../../../http/problem.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { everyNetwork, platforms } from '../../network/networks.ts'
import type { MediaAssetRow } from '../../stores/media/asset.ts'
import { keyOf } from '../keep.ts'
import { goodFor } from './address.ts'
import { streamOf, withoutHidden } from './variant.ts'

const path = /^\/publishing\/media\/([^/]+)\/([a-z-]{1,20})$/

/** Headers that forbid scripts and other active content in a media file opened directly in a browser. */
const guards = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Pages of other origins show these files.
  'cross-origin-resource-policy': 'cross-origin',
  'accept-ranges': 'bytes',
} as const

/** Whether a path is that of a signed address. */
export const isMedium = (pathname: string): boolean => path.test(pathname)

/** Answers a request to a signed address: the bytes of one format of an asset, or a range of them (RFC 9110 §14). */
export async function serveMedium(job: Job, request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [, id = '', form = ''] = path.exec(pathname) ?? []
  const left = goodFor(job.signatures, id, form, searchParams, job.clock.now())
  if (left === null) return problem(request, 'FORBIDDEN', 'This address was altered, or has expired: ask for the asset again, which has a new one.')
  const gone = () => problem(request, 'NOT_FOUND', 'This file does not exist any more.')
  const asset = isId(id) ? await job.mediaAssets.byId.load(id) : null
  const shown = asset && (await shownAs(job, asset, form))
  if (!asset || !shown) return gone()
  const key = keyOf(id, shown.from)
  const bytes = shown.bytes ?? (await job.storage.stat(key))?.bytes
  if (bytes === undefined) return lost(job, asset, form).then(gone)
  const range = rangeOf(request.headers.get('range'), bytes)
  const headers = new Headers({ ...guards, 'content-type': shown.mimeType, 'cache-control': `private, max-age=${left}, immutable`, etag: `"${id}-${form}"` })
  if (range === 'none') {
    headers.set('content-range', `bytes */${bytes}`)
    return new Response(null, { status: 416, headers })
  }
  if (request.headers.get('if-none-match')?.includes(headers.get('etag')!)) return new Response(null, { status: 304, headers })
  headers.set('content-length', String(range ? range.last - range.first + 1 : bytes))
  headers.set(
    'content-disposition',
    `inline; filename*=UTF-8''${encodeURIComponent(nameOf(asset)).replaceAll(/['()*]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)}`,
  )
  if (range) headers.set('content-range', `bytes ${range.first}-${range.last}/${bytes}`)
  const status = range ? 206 : 200
  if (request.method === 'HEAD') return new Response(null, { status, headers })
  try {
    const body = await job.storage.get(key, range ?? undefined)
    const clean = shown.isFilm && asset.hidden.length > 0 ? streamOf(withoutHidden(body, asset.hidden, range?.first)) : body
    return new Response(clean, { status, headers })
  } catch (error) {
    if (error instanceof NotStored) return lost(job, asset, form).then(gone)
    throw error
  }
}

/** Returns the file name for downloads; a converted HEIC gets the extension of JPEG. */
const nameOf = ({ filename, mimeType }: Pick<MediaAssetRow, 'filename' | 'mimeType'>): string =>
  mimeType === 'image/jpeg' ? filename.replace(/\.hei[cf]$/i, '.jpg') : filename

interface Shown {
  /** Storage key of the bytes. */
  readonly from: string
  readonly mimeType: string
  /** Size in bytes; null when only the storage knows it. */
  readonly bytes: number | null
  /** Whether the file is a film whose metadata about the place of recording is removed. */
  readonly isFilm: boolean
}

/** Describes a format of an asset; null when it does not exist. */
async function shownAs({ mediaVariants }: Job, asset: MediaAssetRow, form: string): Promise<Shown | null> {
  if (asset.status !== 'READY') return null
  if (form === 'original') return { from: form, mimeType: asset.mimeType, bytes: asset.bytes, isFilm: false }
  if (form === 'preview') return asset.previewBroken ? null : { from: form, mimeType: 'image/webp', bytes: null, isFilm: false }
  const platform = platforms.find(each => everyNetwork[each].path === form)
  if (!platform) return null
  if (asset.kind !== 'IMAGE') return { from: 'original', mimeType: asset.mimeType, bytes: asset.bytes, isFilm: asset.kind === 'VIDEO' }
  const known = (await mediaVariants.ofAsset.load(asset.id)).find(variant => variant.platform === platform)
  return known ? { from: form, mimeType: known.mimeType, bytes: known.bytes, isFilm: false } : null
}

/** Marks a missing preview as broken, so that lists show this; a missing original is logged as an error. */
async function lost(job: Job, asset: MediaAssetRow, form: string): Promise<void> {
  if (form !== 'preview') return job.log.error({ assetId: asset.id, form }, 'file of a media asset is missing')
  await inTransaction(job, async ({ transaction }) => {
    const now = await job.mediaAssets.lock(asset.id, transaction)
    if (now && !now.previewBroken) await job.mediaAssets.update(now, { previewBroken: true }, transaction)
  })
}

/**
 * Parses a range header; null for the whole file, for several ranges and for an invalid header; `none` for a range
 * outside the file.
 */
export function rangeOf(header: string | null, bytes: number): ByteRange | 'none' | null {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  if (from === '') return Number(to) === 0 ? 'none' : { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
  const [first, last] = [Number(from), to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)]
  if (to !== '' && Number(to) < first) return null
  return first >= bytes ? 'none' : { first, last }
}
