import type { Places } from '../../../platform/caller/places.ts'
import { codeOf, DomainError } from '../../../platform/errors.ts'
import { requireQuota } from '../../../platform/limit.ts'
import type { Body } from '../../../platform/storage/storage.ts'
import type { WriteTransaction, Writing } from '../../store/books.ts'
import { create, inTransaction, type Made } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { everyNetwork } from '../network/networks.ts'
import type { MediaAssetRow, MediaSource, MediaType } from '../stores/media/asset.ts'
import { isAnimated } from './file/animation.ts'
import { digestOf } from './file/digest.ts'
import { pictureOf } from './file/end.ts'
import { jpegOfHeic } from './file/heic.ts'
import { type InTurn, lookAtPicture, NoPicture, previewOf, weightOfLook } from './file/picture.ts'
import { isHeic, kindOf, tooLarge } from './file/type.ts'

/** Dependencies for storing files, present in a resolver's context and in a job's. */
export type Keeping = Writing & Pick<Context, 'storage' | 'brands' | 'mediaAssets' | 'mediaObjects' | 'clock' | 'quotas' | 'log' | 'turns'>

/** Time in ms after which an object without a row is removed: longer than any upload. */
const timeoutMs = 26 * 3_600_000
/** Time in ms for which the bytes of a deleted asset stay: a network may still fetch them. */
export const bytesStayMs = 24 * 3_600_000

/** Returns the storage key of an asset's bytes. @param form `original`, `preview`, or the path of a network */
export const keyOf = (assetId: string, form: string): string => `media/${assetId}/${form}`

/** Returns every storage key that an asset may have: its formats, and the uploaded parts. */
export const keysOf = ({ id, parts }: Pick<MediaAssetRow, 'id' | 'parts'>): readonly string[] => [
  ...forms.map(form => keyOf(id, form)),
  ...parts.map(({ key }) => key),
]

/** The names of an asset's forms. */
export const forms: readonly string[] = ['original', 'preview', ...Object.values(everyNetwork).map(({ path }) => path)]

/** Writes an object for which a row follows; without a row, a job removes the object later. */
export async function keepObject(
  keeping: Keeping,
  brandId: string,
  key: string,
  body: Body,
  as: { readonly contentType: string; readonly bytes: number },
): Promise<void> {
  await inTransaction(keeping, ({ now, transaction }) => keeping.mediaObjects.doom(brandId, [key], new Date(now.getTime() + timeoutMs), transaction))
  await keeping.storage.put(key, body, as)
}

/**
 * Removes objects that no row refers to. When that fails, the entry recorded before the write lets a job remove them a
 * day later.
 */
export async function discardObjects(keeping: Keeping, brandId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await inTransaction(keeping, ({ now, transaction }) => keeping.mediaObjects.doom(brandId, keys, now, transaction)).catch(error =>
    keeping.log.warn({ err: error, brandId }, 'unreferenced files could not be removed; they stay for a day'),
  )
}

/** Whether an error proves that nothing was written: after a database error the commit may still have succeeded. */
export const isRefused = (error: unknown): boolean => codeOf(error) !== 'INTERNAL_SERVER_ERROR'

/** Texts that the user gave for a file, and its owner. */
export interface Given {
  readonly brandId: string
  readonly filename: string
  readonly altText: string | null
  readonly folderId: string | null
  readonly authorId: string | null
  readonly createdBy: string
  readonly source: MediaSource
}

/** Properties of a picture after inspection. */
export type Looked = Pick<MediaAssetRow, 'kind' | 'mimeType' | 'bytes' | 'width' | 'height' | 'sha256' | 'previewBroken' | 'animated'>

/** An inspected picture, with the bytes to store. */
export interface Seen {
  readonly looked: Looked
  readonly original: Uint8Array
  /** Preview bytes; null when no preview could be created. */
  readonly preview: Uint8Array | null
}

/**
 * Returns the work queue of an organization for pictures. @param isPatient whether the work waits however long the
 * queue is: for work that is limited elsewhere
 */
export const turnsOf =
  ({ turns }: Pick<Context, 'turns'>, organizationId: string, isPatient = false): InTurn =>
  (weight, work) =>
    turns.run({ key: organizationId, weight, isPatient }, work)

/**
 * Inspects a whole picture and creates its preview; a HEIC is converted to JPEG first. Nothing is stored.
 * @throws NoPicture for a picture that cannot be read, is cut off, or is followed by other bytes; RATE_LIMITED when too
 * much work of the organization is waiting
 */
export async function lookAt(file: Uint8Array, type: MediaType, inTurn: InTurn): Promise<Seen> {
  const bytes = isHeic(file) ? await jpegOfHeic(file, inTurn) : file
  const { head, original, animated, sha256 } = await inTurn(weightOfLook(bytes.byteLength), async () => {
    const head = await lookAtPicture(bytes, type)
    const original = await pictureOf(bytes, type)
    return { head, original, animated: isAnimated(original, type), sha256: await digestOf(original) }
  })
  const preview = await previewOf(original, head, inTurn)
  const { width, height } = head
  const looked = { kind: kindOf(type), mimeType: type, bytes: original.byteLength, width, height, sha256, previewBroken: preview === null, animated }
  return { looked, original, preview }
}

/** Stores a picture and its preview under an asset's id. */
export async function keepSeen(keeping: Keeping, { brandId, id }: Pick<MediaAssetRow, 'brandId' | 'id'>, { looked, original, preview }: Seen): Promise<void> {
  await keepObject(keeping, brandId, keyOf(id, 'original'), original, { contentType: looked.mimeType, bytes: looked.bytes })
  if (preview) await keepObject(keeping, brandId, keyOf(id, 'preview'), preview, { contentType: 'image/webp', bytes: preview.byteLength })
}

/**
 * Stores pictures of new assets while the row that refers to them is written. When the write is refused, repeated or
 * fails, the pictures are removed.
 * @param write writes the row
 */
export async function keptWhile<R>(
  keeping: Keeping,
  brandId: string,
  pictures: readonly { readonly id: string; readonly seen: Seen }[],
  write: () => Promise<Made<R>>,
): Promise<Made<R>> {
  const keys = pictures.flatMap(({ id }) => bytesOf(id))
  let isWriting = false
  try {
    for (const { id, seen } of pictures) await keepSeen(keeping, { brandId, id }, seen)
    isWriting = true
    const made = await write()
    if (made.repeated) await discardObjects(keeping, brandId, keys)
    return made
  } catch (error) {
    if (!isWriting || isRefused(error)) await discardObjects(keeping, brandId, keys)
    throw error
  }
}

/** Returns the storage keys of a new picture. */
export const bytesOf = (id: string): readonly string[] => [keyOf(id, 'original'), keyOf(id, 'preview')]

/** Marks the objects of an asset as in use, so that no job removes them. */
export const spare = ({ mediaObjects }: Pick<Context, 'mediaObjects'>, id: string, { transaction }: WriteTransaction): Promise<void> =>
  mediaObjects.spare(bytesOf(id), transaction)

/** Checks that a brand may have one more asset. @throws CONFLICT: BRAND_ARCHIVED, QUOTA */
export async function requireRoom({ brands, mediaAssets, quotas }: Keeping, brandId: string, { now, transaction }: WriteTransaction): Promise<void> {
  await brands.requireInUse(brandId, transaction)
  const most = { inAll: quotas.mediaABrand, aDay: Number.POSITIVE_INFINITY }
  requireQuota(await mediaAssets.madeFor(brandId, transaction), most, 'media of this brand', 'delete some that no post uses', now)
}

/**
 * Creates an asset from the bytes of a picture. A rejected or repeated request stores nothing. Callers check the quota
 * and the idempotency key before, so that most rejections need no decoding.
 * @param once the idempotency key
 * @throws BAD_USER_INPUT for bytes that are no picture; CONFLICT; RATE_LIMITED
 */
export async function createPicture(
  keeping: Keeping,
  {
    organizationId,
    once,
    id,
    type,
    bytes,
    places,
    ...given
  }: Given & {
    readonly organizationId: string
    readonly once: { readonly idempotencyKey?: string | null | undefined }
    readonly id: string
    readonly type: MediaType
    readonly bytes: Uint8Array
    /** Queues in which organizations take turns to store files. */
    readonly places: Places
  },
): Promise<Made<MediaAssetRow>> {
  const { brandId } = given
  const wrong = tooLarge(type, bytes.byteLength)
  if (wrong) throw new DomainError('BAD_USER_INPUT', wrong, { reason: 'TOO_LARGE' })
  const seen = await lookAt(bytes, type, turnsOf(keeping, organizationId)).catch(error => {
    throw error instanceof NoPicture ? new DomainError('BAD_USER_INPUT', error.message) : error
  })
  const write = () =>
    create(keeping, {
      of: keeping.mediaAssets,
      once,
      tenantId: organizationId,
      id,
      async run(unit) {
        await requireRoom(keeping, brandId, unit)
        await spare(keeping, id, unit)
        return { id, ...given, ...seen.looked, status: 'READY' as const, createdAt: unit.now, updatedAt: unit.now }
      },
      audit: asset => ({ tenantId: asset.brandId, action: 'media.created', subjectId: asset.id, details: { kind: asset.kind, source: asset.source } }),
    })
  return places.run(organizationId, () => keptWhile(keeping, brandId, [{ id, seen }], write))
}
