import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requirePlace } from '../../../../subgraphs/publishing/media/folder/rules.ts'
import { gif, mp4, png } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('a picture’s type is that of its bytes, and it is shown at signed addresses', async () => {
  const bytes = png(800, 600)
  const { status, json, headers } = await world.upload(bytes, `brandId=${world.brand.id}&filename=notes.txt&altText=Blue`)
  expect([status, headers.get('location')]).toEqual([201, `/publishing/api/media/${json.id}`])
  const asset = await world.asset(json.id)
  expect(asset).toMatchObject({
    ...{
      kind: 'IMAGE',
      filename: 'notes.txt',
      mimeType: 'image/png',
      bytes: bytes.length,
      width: 800,
      height: 600,
      durationMs: null,
      altText: 'Blue',
      source: 'UPLOAD',
    },
    ...{ status: 'READY', previewBroken: false, usage: 0, variants: [], author: { id: world.owner.userId } },
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  expect(json).toMatchObject({ id: asset.id, kind: 'image', status: 'ready', sha256: asset.sha256, authorId: world.owner.userId })
  const seen = await world.http('GET', asset.url)
  expect([seen.status, seen.headers.get('content-type'), seen.bytes.equals(bytes)]).toEqual([200, 'image/png', true])
  expect([seen.headers.get('x-content-type-options'), seen.headers.get('content-security-policy')]).toEqual(['nosniff', expect.stringContaining('sandbox')])
  const preview = await world.http('GET', asset.previewUrl)
  expect([preview.status, preview.headers.get('content-type')]).toEqual([200, 'image/webp'])
})

test('rejects a page, an SVG, a direct upload of a video and an empty file, and stores nothing', async () => {
  const wrong = [
    Buffer.from('<!doctype html><script>alert(1)</script>'),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    mp4(),
    Buffer.alloc(0),
  ]
  for (const bytes of wrong) expect((await world.upload(bytes)).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' })
  expect((await world.upload(png(), `brandId=${world.brand.id}`, world.outsider)).status).toBe(404)
  expect((await world.upload(Buffer.concat([gif, Buffer.alloc(16 * 1024 * 1024)]))).status).toBe(413)
})

test('of a signed address nothing can be altered, and it ends', async () => {
  const { json } = await world.upload()
  const other = (await world.upload(png(10, 10))).json
  const { url } = await world.asset(json.id)
  const altered = [
    url.replace(/signature=(.)/, (_: string, first: string) => `signature=${first === 'A' ? 'B' : 'A'}`),
    url.replace(/expires=(\d+)/, (_: string, at: string) => `expires=${Number(at) + 1}`),
    url.replace('/original?', '/preview?'),
    url.replace(json.id, other.id),
    url.replace(/&signature=.*/, ''),
    `${url}&expires=9999999999`,
    url.replace(/=+$/, '').replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A')),
  ]
  for (const each of altered) expect((await world.http('GET', each)).status, each).toBe(403)
  expect((await world.http('GET', url)).status).toBe(200)
  await world.graph.clock.advance(3_600_000)
  expect((await world.http('GET', url)).status).toBe(403)
})

test('parts of a file are answered, as are questions whether it changed', async () => {
  const bytes = png(200, 200)
  const { url } = await world.asset((await world.upload(bytes)).json.id)
  const part = async (range: string) => {
    const { status, headers, bytes: seen } = await world.http('GET', url, { headers: { range } })
    return [status, headers.get('content-range'), seen.toString('hex')]
  }
  const all = bytes.length
  expect(await part('bytes=0-3')).toEqual([206, `bytes 0-3/${all}`, bytes.toString('hex', 0, 4)])
  expect(await part(`bytes=${all - 2}-`)).toEqual([206, `bytes ${all - 2}-${all - 1}/${all}`, bytes.toString('hex', all - 2)])
  expect(await part('bytes=-2')).toEqual([206, `bytes ${all - 2}-${all - 1}/${all}`, bytes.toString('hex', all - 2)])
  expect(await part(`bytes=${all}-`)).toEqual([416, `bytes */${all}`, ''])
  expect((await part('bytes=5-2'))[0]).toBe(200)
  const head = await world.http('HEAD', url)
  expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, String(all), 0])
  expect((await world.http('GET', url, { headers: { 'if-none-match': head.headers.get('etag')! } })).status).toBe(304)
})

test('a video is uploaded in parts, continued where it stopped, and becomes an asset', async () => {
  const bytes = mp4({ padding: 300_000 })
  const { at, status, headers } = await world.begin(bytes.length)
  expect([status, headers.get('upload-offset'), headers.get('tus-resumable')]).toEqual([201, '0', '1.0.0'])
  const half = 150_000
  expect((await world.patch(at, 0, bytes.subarray(0, half))).status).toBe(204)
  const head = await world.http('HEAD', at, { headers: world.tus })
  expect([head.status, head.headers.get('upload-offset'), head.headers.get('upload-length')]).toEqual([200, String(half), String(bytes.length)])
  expect((await world.patch(at, half + 7, bytes.subarray(half))).status).toBe(409)
  expect((await world.http('HEAD', at, { headers: world.tus, as: world.outsider })).status).toBe(404)
  const last = await world.patch(at, half, bytes.subarray(half))
  expect(last.status).toBe(204)
  const asset = await world.ready(last.headers.get('x-media-asset-id')!)
  expect(asset).toMatchObject({
    kind: 'VIDEO',
    mimeType: 'video/mp4',
    status: 'READY',
    width: 640,
    height: 360,
    durationMs: 1000,
    previewUrl: null,
    previewBroken: true,
  })
  expect(asset.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
  expect((await world.http('GET', asset.url)).bytes.equals(bytes)).toBe(true)
  // Asked again, it is whole still.
  expect((await world.http('HEAD', at, { headers: world.tus })).headers.get('x-media-asset-id')).toBe(asset.id)
})

test('the library is paged, newest first, and filtered', async () => {
  const { id: brandId } = (await world.mutate('createBrand', { name: 'Library' })).it
  const up = async (name: string) => (await world.upload(png(20, 20), `brandId=${brandId}&filename=${name}`)).json.id as string
  const there: string[] = []
  for (const name of ['one.png', 'two.png', 'three.png']) {
    there.push(await up(name))
    await world.graph.clock.advance(1000)
  }
  const page = async (more: string) =>
    (await world.ask(`query($b: ID!) { mediaAssets(brandId: $b, ${more}) { nodes { id } pageInfo { endCursor hasNextPage } totalCount } }`, { b: brandId }))
      .mediaAssets
  const first = await page('first: 2')
  expect([first.nodes.map((node: { id: string }) => node.id), first.totalCount]).toEqual([[there[2], there[1]], 3])
  await up('four.png')
  const second = await page(`first: 2, after: "${first.pageInfo.endCursor}"`)
  expect([second.nodes.map((node: { id: string }) => node.id), second.pageInfo.hasNextPage]).toEqual([[there[0]], false])
  const folder = (await world.mutate('createMediaFolder', { brandId, name: 'Summer' })).it
  const changed = await world.mutate(
    'updateMediaAsset',
    { id: there[1], title: 'The sea', tags: ['sea', 'Summer', 'Sea', 'summer'], folderId: folder.id, expectedVersion: 1 },
    'title tags folder { name assetCount } version',
  )
  expect(changed.it).toEqual({ title: 'The sea', tags: ['sea', 'Summer'], folder: { name: 'Summer', assetCount: 1 }, version: 2 })
  for (const more of ['tag: "sea"', 'tag: "SEA"', 'search: "SEA"', `folderId: "${folder.id}"`, 'search: "two"'])
    expect((await page(more)).nodes, more).toEqual([{ id: there[1] }])
  expect((await page('kind: VIDEO')).nodes).toEqual([])
  expect((await page('search: "%"')).nodes).toEqual([])
  expect((await world.mutate('deleteMediaFolder', { id: folder.id })).error.extensions).toMatchObject({ code: 'CONFLICT', reason: 'NOT_EMPTY' })
  expect((await world.mutate('updateMediaAsset', { id: there[1], title: 'x', expectedVersion: 1 })).error.extensions).toMatchObject({
    code: 'CONFLICT',
    reason: 'STALE_VERSION',
  })
})

test('a folder cannot be moved into its own subfolders, nor deeper than eight levels, including its contents', () => {
  const chain = (name: string, length: number) => Array.from({ length }, (_, at) => ({ id: `${name}${at}`, parentId: at === 0 ? null : `${name}${at - 1}` }))
  const tree = [...chain('a', 7), ...chain('b', 2)]
  const putting = (id: string | null, into: string) => () => requirePlace(tree, id, into)
  for (const into of ['a0', 'a1', 'a6']) expect(putting('a0', into), into).toThrow('cannot lie in itself')
  for (const [id, into] of [
    [null, 'a6'],
    ['b0', 'a5'],
    ['b1', 'a6'],
  ] as const)
    expect(putting(id, into), `${id} into ${into}`).not.toThrow()
  expect(putting('b0', 'a6')).toThrow('8 deep')
  expect(putting(null, 'c0')).toThrow('c0')
})

test('rejects a folder of another brand for an upload', async () => {
  const { id: brandId } = (await world.mutate('createBrand', { name: 'Beside' })).it
  const folder = (await world.mutate('createMediaFolder', { brandId, name: 'Theirs' })).it
  expect((await world.upload(png(), `brandId=${world.brand.id}&filename=a.png&folderId=${folder.id}`)).json).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect((await world.begin(1_000, { folderId: folder.id })).json).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect((await world.upload(png(), `brandId=${brandId}&filename=a.png&folderId=${folder.id}`)).json).toMatchObject({ folderId: folder.id })
})

test('an asset of a post cannot be deleted; a deleted one is gone, and its bytes a day later', async () => {
  const { id } = (await world.upload()).json
  const post = (await world.mutate('createPost', { brandId: world.brand.id, platform: 'INSTAGRAM', copy: 'x' })).it.id
  await world.graph.rows('update publishing.posts set media = $2::jsonb where id = $1', [post, JSON.stringify([{ assetId: id, altText: 'A square' }])])
  const shown = await world.ask('query($id: ID!) { post(id: $id) { media { altText asset { id usage posts { nodes { id } totalCount } } } } }', { id: post })
  expect(shown.post.media).toEqual([{ altText: 'A square', asset: { id, usage: 1, posts: { nodes: [{ id: post }], totalCount: 1 } } }])
  expect((await world.mutate('deleteMediaAsset', { id })).error.extensions).toMatchObject({ code: 'CONFLICT', reason: 'IN_USE', postIds: [post] })
  await world.mutate('deletePost', { id: post })
  expect((await world.mutate('deleteMediaAsset', { id })).it).toEqual({ id })
  expect((await world.graph.execute('query($id: ID!) { mediaAsset(id: $id) { id } }', { id }, { as: world.owner })).partial.data).toEqual({ mediaAsset: null })
  const { storage } = world.graph.job
  expect(await storage.stat(`media/${id}/original`)).not.toBe(null)
  await world.graph.clock.advance(24 * 3_600_000 - 60_000)
  await world.graph.clock.run(30_000)
  expect(await storage.stat(`media/${id}/original`)).not.toBe(null)
  await world.graph.clock.run(60_000)
  await expect.poll(() => storage.stat(`media/${id}/original`), { timeout: 5_000 }).toBe(null)
})
