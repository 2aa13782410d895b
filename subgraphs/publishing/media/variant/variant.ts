import { Readable } from 'node:stream'
import type { TurnOptions } from '../../../../platform/jobs/turns.ts'
import { passing } from '../../../../platform/storage/pieces.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import type { MediaAssetRow } from '../../stores/media/asset.ts'
import type { MediaVariantRow } from '../../stores/media/variant.ts'
import { type Formed, formOf } from '../file/picture.ts'
import { keepObject, keyOf } from '../keep.ts'
import { formFor } from './form.ts'

/** The file that a network gets for an asset: its type, size and storage key. */
export type Given = Pick<MediaVariantRow, 'mimeType' | 'width' | 'height' | 'bytes'> & { readonly form: string }

/**
 * Returns the format in which a network accepts an asset. A picture is re-encoded once, without the camera's metadata;
 * GIFs and films are unchanged, but films lose metadata about the place of recording.
 * @throws NoPicture, NotStored
 */
export async function variantFor(job: Job, asset: MediaAssetRow, platform: Platform): Promise<Given> {
  const form = everyNetwork[platform].path
  if (asset.kind !== 'IMAGE') return { mimeType: asset.mimeType, width: asset.width, height: asset.height, bytes: asset.bytes, form }
  const known = (await job.mediaVariants.ofAsset.clear(asset.id).load(asset.id)).find(variant => variant.platform === platform)
  if (known) return { ...known, form }
  const brand = await job.brands.byId.load(asset.brandId)
  const made = await formed(job, asset, platform, brand?.organizationId ?? asset.brandId)
  const key = keyOf(asset.id, form)
  const { mimeType, width, height } = made
  const bytes = made.bytes.byteLength
  await keepObject(job, asset.brandId, key, made.bytes, { contentType: mimeType, bytes })
  const row = { brandId: asset.brandId, assetId: asset.id, platform, mimeType, width, height, bytes }
  await inTransaction(job, async ({ now, transaction }) => {
    // If the asset was deleted meanwhile, a sweep removes the file.
    if (await job.mediaVariants.keep({ ...row, createdAt: now }, transaction)) await job.mediaObjects.spare([key], transaction)
  })
  job.mediaVariants.ofAsset.clear(asset.id)
  return { mimeType, width, height, bytes, form }
}

/**
 * Number of originals that one process holds concurrently while it re-encodes them, with organizations in turn: each
 * has up to 25 MiB.
 */
export const turnsOfOriginals: TurnOptions = { what: 'pictures', places: 8, maxWaiting: { ofKey: 0, inAll: 0 }, perSecond: 1 }

/**
 * Re-encodes a picture. Networks and people wait for scheduled posts, so this work has a separate place in the queue
 * and is never refused.
 */
const formed = ({ originals, storage, turns }: Job, asset: MediaAssetRow, platform: Platform, key: string): Promise<Formed> =>
  originals.run({ key, weight: 1 + asset.bytes / 1_048_576, isPatient: true }, async () => {
    const original = new Uint8Array(await new Response(await storage.get(keyOf(asset.id, 'original'))).arrayBuffer())
    return formOf(original, asset.mimeType, formFor[platform], (weight, work) => turns.run({ key, weight, isUrgent: true }, work))
  })

/**
 * Streams a film's bytes without metadata: such boxes become free space (ISO 14496-12 §8.1.2), and all offsets stay the
 * same.
 */
export function withoutHidden(pieces: AsyncIterable<Uint8Array>, hidden: MediaAssetRow['hidden'], from = 0): AsyncIterable<Uint8Array> {
  let at = from
  return passing(pieces, piece => {
    const [first, last] = [at, at + piece.byteLength - 1]
    at = last + 1
    const here = hidden.filter(([begin, end]) => begin <= last && end >= first)
    if (here.length === 0) return piece
    const clean = new Uint8Array(piece)
    for (const [begin, end] of here)
      for (let place = Math.max(begin + 4, first); place <= Math.min(end, last); place += 1) clean[place - first] = free[place - begin - 4] ?? 0
    return clean
  })
}

/** The type of a box that means nothing. */
const free = Buffer.from('free')

/** Converts an async iterable to a stream; cancelling the stream ends the iterable. */
export const streamOf = (pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> =>
  Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream<Uint8Array>
