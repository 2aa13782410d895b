import { expect, test, vi } from 'vitest'
import { removeDemo } from '../../../../db/demo-removal.ts'
import { provideDemo as providePeople } from '../../../../subgraphs/identity/setup/demo.ts'
import { provideDemo } from '../../../../subgraphs/publishing/brand/demo.ts'
import { provideDemoMedia } from '../../../../subgraphs/publishing/media/demo.ts'
import { mediaSweeps } from '../../../../subgraphs/publishing/media/prepare.ts'
import { variantFor } from '../../../../subgraphs/publishing/media/variant/variant.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'

test('removing the demo removes its stored media, variants of pictures and parts of uploads included', async () => {
  await using graph = await supergraph()
  const { identity, publishing } = graph.platform
  const people = await providePeople(identity, null)
  const job = publishing.job(`user:${people.userId}`)
  const { brandId } = await provideDemo(job, people)
  await provideDemoMedia(job, { brandId, userId: people.userId })
  const { storage } = job
  const assets = await graph.rows<{ id: string; kind: string }>('select id, kind from publishing.media_assets where brand_id = $1', [brandId])
  const picture = assets.find(({ kind }) => kind === 'IMAGE')!.id
  await variantFor(job, (await job.mediaAssets.byId.load(picture))!, 'INSTAGRAM')
  await storage.put('uploads/one/part', Buffer.from('part'), { contentType: 'application/octet-stream', bytes: 4 })
  const now = graph.clock.now()
  await inTransaction(job, ({ transaction }) =>
    job.mediaUploads.insert(
      {
        ...{ brandId, id: picture, filename: 'a.mp4', altText: null, folderId: null, bytes: 10, authorId: null, createdBy: 'user:x' },
        ...{ parts: [{ key: 'uploads/one/part', bytes: 4 }], received: 4, expiresAt: now, createdAt: now, updatedAt: now },
      },
      transaction,
    ),
  )
  const keys = ['uploads/one/part', `media/${picture}/instagram`, ...assets.map(({ id }) => `media/${id}/original`)]
  const there = () => Promise.all(keys.map(async key => (await storage.stat(key)) !== null))
  expect(await there()).toEqual(keys.map(() => true))

  expect((await removeDemo(graph.database.sequelize)).accounts).not.toEqual([])
  expect(await graph.rows('select id from publishing.brands')).toEqual([])
  expect(await graph.rows('select id from publishing.media_assets')).toEqual([])
  const sweep = mediaSweeps(() => graph.job).find(({ name }) => name === 'objects that are to go')!
  const left = async () => (await graph.rows('select key from publishing.media_objects')).length
  const before = await left()
  const removes = storage.remove
  const remove = vi.spyOn(storage, 'remove').mockImplementationOnce(removes).mockRejectedValueOnce(new Error('the bucket answered 503'))
  // The round ends: whoever asks whether the platform is ready is not told of it.
  await sweep.run()
  expect(await left()).toBe(before - 1)
  remove.mockRestore()
  await sweep.run()
  expect(await there()).toEqual(keys.map(() => false))
  expect(await graph.rows('select key from publishing.media_objects')).toEqual([])
})
