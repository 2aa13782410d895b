import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import { NotStored } from '../../../platform/storage/storage.ts'
import { notFound } from '../../store/store.ts'
import type { Context, Job } from '../context.ts'
import type { ContentMedium } from '../network/content/check.ts'
import type { Platform } from '../network/network.ts'
import type { Medium } from '../network/publication.ts'
import type { MediaAssetRow } from '../stores/media/asset.ts'
import type { PostMedium, PostRow } from '../stores/post.ts'
import { NoPicture } from './file/picture.ts'
import { keyOf } from './keep.ts'
import { addressOf } from './variant/address.ts'
import { streamOf, variantFor, withoutHidden } from './variant/variant.ts'

/**
 * Returns a post's media in the formats that a network accepts, and creates missing ones.
 * @returns `failed`: why a format cannot be created, in a sentence; a retry does not help
 */
export async function mediaOf(
  job: Job,
  post: Pick<PostRow, 'brandId' | 'media'>,
  platform: Platform,
): Promise<{ readonly media: readonly Medium[] } | { readonly failed: string }> {
  const media: Medium[] = []
  for (const { assetId, altText } of post.media) {
    const asset = await job.mediaAssets.byId.load(assetId)
    if (asset?.brandId !== post.brandId) return { failed: 'A medium of the post was deleted: choose another one.' }
    if (asset.status !== 'READY')
      return {
        failed: `${asset.filename} ${asset.status === 'FAILED' ? 'could not be prepared: upload it again' : 'is being prepared: try again in a moment'}.`,
      }
    try {
      media.push(await mediumOf(job, asset, altText, platform))
    } catch (error) {
      if (error instanceof NoPicture) return { failed: `${asset.filename}: ${error.message}` }
      if (error instanceof NotStored) return { failed: goneOf(asset) }
      throw error
    }
  }
  return { media }
}

const goneOf = ({ filename }: Pick<MediaAssetRow, 'filename'>): string => `The bytes of ${filename} are gone: upload it again.`

async function mediumOf(job: Job, asset: MediaAssetRow, altText: string | null, platform: Platform): Promise<Medium> {
  const { form, ...told } = await variantFor(job, asset, platform)
  return {
    assetId: asset.id,
    kind: asset.kind,
    ...told,
    durationMs: asset.durationMs,
    altText: altText ?? asset.altText,
    async open() {
      const body = await job.storage.get(keyOf(asset.id, asset.kind === 'IMAGE' ? form : 'original')).catch(error => {
        if (error instanceof NotStored) throw new Error(goneOf(asset))
        throw new OutboundFailure(`${asset.filename} could not be read`, false, error)
      })
      return asset.hidden.length > 0 ? streamOf(withoutHidden(body, asset.hidden)) : body
    },
    address: () => addressOf(job, asset.id, form, 'network'),
  }
}

/**
 * Returns the media of a post in the form that networks' rules check.
 * @throws NOT_FOUND for an asset that the brand does not have
 */
export async function contentMedia(
  { mediaAssets }: Pick<Context, 'mediaAssets'>,
  brandId: string,
  media: readonly PostMedium[],
): Promise<readonly ContentMedium[]> {
  const assets = await Promise.all(media.map(({ assetId }) => mediaAssets.byId.load(assetId)))
  return assets.map((asset, at) => {
    const { assetId, altText } = media[at]!
    if (asset?.brandId !== brandId) throw notFound(mediaAssets.what, assetId)
    const { kind, durationMs, mimeType, bytes, width, height, videoCodec, audioCodec, animated: isAnimated } = asset
    const file = { durationMs, mimeType, bytes, width, height, videoCodec, audioCodec }
    return { kind, ...file, isAnimated, isReady: asset.status === 'READY', altText: altText ?? asset.altText }
  })
}
