import type { Context } from '../../context.ts'
import type { MediaAssetRow } from '../../stores/media/asset.ts'
import { addressOf } from '../variant/address.ts'

type Addressing = Pick<Context, 'publicUrl' | 'signatures' | 'clock'>

/** Where an asset is seen; null as long as it is not ready. */
export const urlOf = (addressing: Addressing, { id, status }: Pick<MediaAssetRow, 'id' | 'status'>): string | null =>
  status === 'READY' ? addressOf(addressing, id, 'original') : null

/** Where its preview is; null for none, and for a broken one. */
export const previewUrlOf = (addressing: Addressing, { id, status, previewBroken }: Pick<MediaAssetRow, 'id' | 'status' | 'previewBroken'>): string | null =>
  status === 'READY' && !previewBroken ? addressOf(addressing, id, 'preview') : null

/** An asset as routes answer it, for the one that no operation answers: an upload of its bytes. */
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
