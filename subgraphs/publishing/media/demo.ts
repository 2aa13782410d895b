import { createHash } from 'node:crypto'
import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { MediaAssetRow } from '../stores/media/asset.ts'
import { plainPicture } from './file/picture.ts'
import { keepObject, keepSeen, keyOf, lookAt, spare, turnsOf } from './keep.ts'

/** A blank film of one second with valid boxes. */
const film = Buffer.from(
  'AAAAGGZ0eXBpc29tAAACAGlzb21tcDQxAAABIm1vb3YAAABsbXZoZAAAAAAAAAAAAAAAAAAAA+gAAAPoAAEAAAEAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAACudHJhawAAAFx0a2hkAAAABwAAAAAAAAAAAAAAAQAAAAAAAAPoAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAQAAAAAKAAAABaAAAAAAASm1kaWEAAAAgbWRoZAAAAAAAAAAAAAAAAAAAA+gAAAPoVcQAAAAAACJoZGxyAAAAAAAAAAB2aWRlAAAAAAAAAAAAAAAAdgAAAAAYbWRhdAcHBwcHBwcHBwcHBwcHBwc=',
  'base64',
)

const pictures = [
  { mark: 'demo-media-1', filename: 'harbour.png', title: 'Harbour', altText: 'A blue plain, like the sea in the morning', colour: '#2f6f9f' },
  { mark: 'demo-media-2', filename: 'field.png', title: 'Field', altText: 'A green plain, like a field in May', colour: '#4f8f3f' },
  { mark: 'demo-media-3', filename: 'brick.png', title: 'Brick', altText: 'A red plain, like a wall of bricks', colour: '#9f4f3f' },
  { mark: 'demo-media-drawn', filename: 'lighthouse.png', title: null, altText: null, colour: '#dfbf5f' },
] as const

/**
 * Creates the missing assets of the demo brand's library: three pictures, a film, and a generated picture whose preview
 * is broken.
 */
export async function provideDemoMedia(job: Job, { brandId, userId }: { readonly brandId: string; readonly userId: string }): Promise<void> {
  const by = { brandId, authorId: userId, createdBy: `user:${userId}` }
  const provide = async (
    id: string,
    make: () => Promise<Omit<MediaAssetRow, 'createdAt' | 'updatedAt' | 'version' | 'folderId' | 'parts' | 'tags' | 'animated' | 'videoCodec' | 'audioCodec'>>,
  ) => {
    if (await job.mediaAssets.byId.load(id)) return
    const asset = await make()
    await inTransaction(job, async unit => {
      await job.brands.madeFor(brandId, unit.transaction)
      if (await job.mediaAssets.lock(id, unit.transaction)) return
      const stamps = { createdAt: unit.now, updatedAt: unit.now }
      await job.mediaAssets.insert({ ...asset, ...stamps }, unit.transaction)
      await spare(job, id, unit)
      if (asset.source !== 'GENERATED') return
      const drawn = {
        brandId,
        id: idOfName(brandId, 'demo-drawn'),
        groupId: idOfName(brandId, 'demo-drawn'),
        prompt: 'A lighthouse at dusk',
        model: 'openai/gpt-image-1',
      }
      await job.generatedImages.insert({ ...drawn, ...by, assetId: id, ...stamps }, unit.transaction)
    })
  }
  for (const { mark, colour, filename, title, altText } of pictures) {
    const id = idOfName(brandId, mark)
    await provide(id, async () => {
      const seen = await lookAt(await plainPicture(1080, 1080, colour), 'image/png', turnsOf(job, 'demo', true))
      await keepSeen(job, { brandId, id }, seen)
      const isDrawn = mark === 'demo-media-drawn'
      const said = { ...by, id, filename, title, altText, hidden: [], durationMs: null, status: 'READY' } as const
      return { ...said, ...seen.looked, source: isDrawn ? 'GENERATED' : 'UPLOAD', previewBroken: isDrawn }
    })
  }
  const id = idOfName(brandId, 'demo-media-film')
  await provide(id, async () => {
    await keepObject(job, brandId, keyOf(id, 'original'), film, { contentType: 'video/mp4', bytes: film.byteLength })
    const sha256 = createHash('sha256').update(film).digest('hex')
    const shape = {
      kind: 'VIDEO',
      mimeType: 'video/mp4',
      bytes: film.byteLength,
      width: 640,
      height: 360,
      durationMs: 1000,
      previewBroken: true,
      hidden: [],
    } as const
    return { ...by, ...shape, id, filename: 'clip.mp4', title: 'Clip', altText: null, sha256, source: 'UPLOAD', status: 'READY' }
  })
}
