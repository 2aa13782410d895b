import type { Places } from '../../../platform/caller/places.ts'
import { codeOf, Refusal } from '../../../platform/errors.ts'
import { requireQuota } from '../../../platform/limit.ts'
import type { Body } from '../../../platform/storage/storage.ts'
import type { Unit, Writing } from '../../store/books.ts'
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

/** What files are kept with: a resolver's context has it, and so has a job's. */
export type Keeping = Writing & Pick<Context, 'storage' | 'brands' | 'mediaAssets' | 'mediaObjects' | 'clock' | 'quotas' | 'log' | 'turns'>

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

/** Has objects go that no row names. Where that fails they go a day later, as what was entered before they were written says. */
export async function discardObjects(keeping: Keeping, brandId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await inTransaction(keeping, ({ now, transaction }) => keeping.mediaObjects.doom(brandId, keys, now, transaction)).catch(error =>
    keeping.log.warn({ err: error, brandId }, 'unreferenced files could not be removed; they stay for a day'),
  )
}

/** Whether an error says that nothing was written: after a database's error the commit may have gone through all the same. */
export const isRefused = (error: unknown): boolean => codeOf(error) !== 'INTERNAL_SERVER_ERROR'

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

/** What is known of a picture once its bytes were looked at. */
export type Looked = Pick<MediaAssetRow, 'kind' | 'mimeType' | 'bytes' | 'width' | 'height' | 'sha256' | 'previewBroken' | 'animated'>

/** A picture that was looked at, with what is to be kept of it. */
export interface Seen {
  readonly looked: Looked
  readonly original: Uint8Array
  /** Null where none could be made. */
  readonly preview: Uint8Array | null
}

/** Has work on pictures take the turns of an organization. @param isPatient whether it waits, however much does: for work that is bounded elsewhere */
export const turnsOf =
  ({ turns }: Pick<Context, 'turns'>, organizationId: string, isPatient = false): InTurn =>
  (weight, work) =>
    turns.run({ key: organizationId, weight, isPatient }, work)

/**
 * Looks at a picture, all of it, and makes its preview; a HEIC becomes a JPEG before. Nothing is kept.
 * @throws NoPicture for what cannot be read, is cut off, or that other bytes follow; RATE_LIMITED when too much of the organization waits
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

/** Keeps a picture and its preview under an asset's id. */
export async function keepSeen(keeping: Keeping, { brandId, id }: Pick<MediaAssetRow, 'brandId' | 'id'>, { looked, original, preview }: Seen): Promise<void> {
  await keepObject(keeping, brandId, keyOf(id, 'original'), original, { contentType: looked.mimeType, bytes: looked.bytes })
  if (preview) await keepObject(keeping, brandId, keyOf(id, 'preview'), preview, { contentType: 'image/webp', bytes: preview.byteLength })
}

/**
 * Keeps pictures of new assets while a row that names them is written. Refused, repeated or not stored, none of them stays.
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

/** The keys under which a picture that was just kept lies. */
export const bytesOf = (id: string): readonly string[] => [keyOf(id, 'original'), keyOf(id, 'preview')]

/** Has the objects of an asset stay. */
export const spare = ({ mediaObjects }: Pick<Context, 'mediaObjects'>, id: string, { transaction }: Unit): Promise<void> =>
  mediaObjects.spare(bytesOf(id), transaction)

/** Sees to it that a brand takes one more asset. @throws CONFLICT: BRAND_ARCHIVED, QUOTA */
export async function requireRoom({ brands, mediaAssets, quotas }: Keeping, brandId: string, { now, transaction }: Unit): Promise<void> {
  await brands.requireInUse(brandId, transaction)
  const most = { inAll: quotas.mediaABrand, aDay: Number.POSITIVE_INFINITY }
  requireQuota(await mediaAssets.madeFor(brandId, transaction), most, 'media of this brand', 'delete some that no post uses', now)
}

/**
 * Makes an asset of a picture that is there as bytes. What is refused, or was made before with the same key, keeps no bytes. Callers ask for
 * room and for what the key made before, so that most of it is refused before it is looked at.
 * @param once its idempotency key
 * @throws BAD_USER_INPUT for what is no picture; CONFLICT; RATE_LIMITED
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
    /** Where organizations take turns to keep files. */
    readonly places: Places
  },
): Promise<Made<MediaAssetRow>> {
  const { brandId } = given
  const wrong = tooLarge(type, bytes.byteLength)
  if (wrong) throw new Refusal('BAD_USER_INPUT', wrong, { reason: 'TOO_LARGE' })
  const seen = await lookAt(bytes, type, turnsOf(keeping, organizationId)).catch(error => {
    throw error instanceof NoPicture ? new Refusal('BAD_USER_INPUT', error.message) : error
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
