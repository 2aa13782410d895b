import { createHash } from 'node:crypto'
import { Refusal } from '../../../platform/errors.ts'
import { requireQuota } from '../../../platform/limit.ts'
import type { Body } from '../../../platform/storage/storage.ts'
import type { Unit, Writing } from '../../store/books.ts'
import { create, inTransaction, type Made } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { everyNetwork } from '../network/networks.ts'
import type { MediaAssetRow, MediaSource, MediaType, Part } from '../stores/media/asset.ts'
import { isAnimated } from './file/animation.ts'
import { lookAtPicture, NoPicture, previewOf } from './file/picture.ts'
import { kindOf, tooLarge } from './file/type.ts'

/** What files are kept with: a resolver's context has it, and so has a job's. */
export type Keeping = Writing & Pick<Context, 'storage' | 'brands' | 'mediaAssets' | 'mediaObjects' | 'clock' | 'quotas' | 'log'>

/** How long an object waits for the row that names it, in ms: longer than any upload. */
const patienceMs = 26 * 3_600_000
/** How long the bytes of what was deleted stay, in ms: a network may be fetching them. */
export const bytesStayMs = 24 * 3_600_000

/** Where the bytes of an asset are. @param form `original`, `preview`, or the path of a network */
export const keyOf = (assetId: string, form: string): string => `media/${assetId}/${form}`

/** Every key under which something of an asset may be: its forms, and the parts that it came in. */
export const keysOf = ({ id, parts }: Pick<MediaAssetRow, 'id' | 'parts'>): readonly string[] => [
  ...forms.map(form => keyOf(id, form)),
  ...parts.map(({ key }) => key),
]

/** The names of an asset's forms. */
export const forms: readonly string[] = ['original', 'preview', ...Object.values(everyNetwork).map(({ path }) => path)]

/** Writes an object that a row is to name: should that never come about, it goes by itself. */
export async function keepObject(
  keeping: Keeping,
  brandId: string,
  key: string,
  body: Body,
  as: { readonly contentType: string; readonly bytes: number },
): Promise<void> {
  await inTransaction(keeping, ({ now, transaction }) => keeping.mediaObjects.doom(brandId, [key], new Date(now.getTime() + patienceMs), transaction))
  await keeping.storage.put(key, body, as)
}

/** Has parts go that nothing names. Where that fails they go a day later, as what was entered before they were written says. */
export async function letGo(keeping: Keeping, brandId: string, parts: readonly Part[]): Promise<void> {
  const keys = parts.map(({ key }) => key)
  if (keys.length === 0) return
  await inTransaction(keeping, ({ now, transaction }) => keeping.mediaObjects.doom(brandId, keys, now, transaction)).catch(error =>
    keeping.log.warn({ err: error, brandId }, 'parts of a file stay for a day'),
  )
}

/** What people say of a file, and whose it is. */
export interface Given {
  readonly brandId: string
  readonly filename: string
  readonly altText: string | null
  readonly folderId: string | null
  readonly authorId: string | null
  readonly createdBy: string
  readonly source: MediaSource
}

/** A picture whose bytes are looked at, and kept. */
export type Looked = Pick<MediaAssetRow, 'kind' | 'mimeType' | 'bytes' | 'width' | 'height' | 'sha256' | 'previewBroken' | 'animated'>

/**
 * Looks at a picture and keeps it and its preview under an asset's id; a preview that cannot be made is broken, and no reason to refuse the picture.
 * @throws NoPicture for what cannot be read
 */
export async function keepPicture(
  keeping: Keeping,
  { brandId, id }: Pick<MediaAssetRow, 'brandId' | 'id'>,
  type: MediaType,
  bytes: Uint8Array,
): Promise<Looked> {
  const size = await lookAtPicture(bytes, type)
  const preview = await previewOf(bytes).catch(() => null)
  await keepObject(keeping, brandId, keyOf(id, 'original'), bytes, { contentType: type, bytes: bytes.byteLength })
  if (preview) await keepObject(keeping, brandId, keyOf(id, 'preview'), preview, { contentType: 'image/webp', bytes: preview.byteLength })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { kind: kindOf(type), mimeType: type, bytes: bytes.byteLength, ...size, sha256, previewBroken: preview === null, animated: isAnimated(bytes, type) }
}

/** Has the objects of an asset stay. */
export const spare = ({ mediaObjects }: Pick<Context, 'mediaObjects'>, id: string, { transaction }: Unit): Promise<void> =>
  mediaObjects.spare([keyOf(id, 'original'), keyOf(id, 'preview')], transaction)

/** Sees to it that a brand takes one more asset. @throws CONFLICT: BRAND_ARCHIVED, QUOTA */
export async function requireRoom({ brands, mediaAssets, quotas }: Keeping, brandId: string, { now, transaction }: Unit): Promise<void> {
  await brands.requireInUse(brandId, transaction)
  const most = { inAll: quotas.mediaABrand, aDay: Number.POSITIVE_INFINITY }
  requireQuota(await mediaAssets.madeFor(brandId, transaction), most, 'media of this brand', 'delete some that no post uses', now)
}

/**
 * Makes an asset of a picture that is there as bytes.
 * @param once its idempotency key
 * @throws BAD_USER_INPUT for what is no picture; CONFLICT
 */
export async function createPicture(
  keeping: Keeping,
  {
    organizationId,
    once,
    id,
    type,
    bytes,
    ...given
  }: Given & {
    readonly organizationId: string
    readonly once: { readonly idempotencyKey?: string | null | undefined }
    readonly id: string
    readonly type: MediaType
    readonly bytes: Uint8Array
  },
): Promise<Made<MediaAssetRow>> {
  const wrong = tooLarge(type, bytes.byteLength)
  if (wrong) throw new Refusal('BAD_USER_INPUT', wrong, { reason: 'TOO_LARGE' })
  const looked = await keepPicture(keeping, { brandId: given.brandId, id }, type, bytes).catch(error => {
    throw error instanceof NoPicture ? new Refusal('BAD_USER_INPUT', error.message) : error
  })
  return create(keeping, {
    of: keeping.mediaAssets,
    once,
    tenantId: organizationId,
    id,
    async run(unit) {
      await requireRoom(keeping, given.brandId, unit)
      await spare(keeping, id, unit)
      return { id, ...given, ...looked, status: 'READY' as const, createdAt: unit.now, updatedAt: unit.now }
    },
    audit: asset => ({ tenantId: asset.brandId, action: 'media.created', subjectId: asset.id, details: { kind: asset.kind, source: asset.source } }),
  })
}
