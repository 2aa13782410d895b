import type { Context } from '../../context.ts'
import type { MediaAssetRow } from '../../stores/media/asset.ts'
import { addressOf } from '../variant/address.ts'

type Addressing = Pick<Context, 'publicUrl' | 'signatures' | 'clock'>

/** Returns the address of an asset's file; null until the asset is ready. */
export const urlOf = (addressing: Addressing, { id, status }: Pick<MediaAssetRow, 'id' | 'status'>): string | null =>
  status === 'READY' ? addressOf(addressing, id, 'original') : null

/** Returns the address of an asset's preview; null when it has none or the preview is broken. */
export const previewUrlOf = (addressing: Addressing, { id, status, previewBroken }: Pick<MediaAssetRow, 'id' | 'status' | 'previewBroken'>): string | null =>
  status === 'READY' && !previewBroken ? addressOf(addressing, id, 'preview') : null

/** Returns an asset in the answer format of routes, for the upload of bytes, which no GraphQL operation answers. */
export function shownAsset(addressing: Addressing, asset: MediaAssetRow) {
  const { id, brandId, filename, mimeType, bytes, width, height, durationMs, sha256, altText, title, tags, folderId, previewBroken, authorId, version } = asset
  const [kind, source, status] = [asset.kind, asset.source, asset.status].map(value => value.toLowerCase())
  return {
    ...{ id, brandId, kind, filename, mimeType, bytes, width, height, durationMs, sha256, altText, title, tags, folderId, source, status },
    url: urlOf(addressing, asset),
    previewUrl: previewUrlOf(addressing, asset),
    previewBroken,
    variants: [],
    usage: 0,
    createdAt: asset.createdAt.toISOString(),
    authorId,
    version,
  }
}
