import { expect, test } from 'vitest'
import { claimMs } from '../../../subgraphs/publishing/delivery/rules.ts'
import { mediaSweeps } from '../../../subgraphs/publishing/media/prepare.ts'
import { sendMs } from '../../../subgraphs/publishing/stores/pace.ts'
import { dies } from '../../kit/dies.ts'
import { shared } from '../../kit/shared.ts'
import { seedConnection } from './connection/seed.ts'
import { round, stored, wake } from './delivery/delivering.ts'
import { mp4 } from './media/files.ts'
import { mediaWorld } from './media/world.ts'

// A process that dies while it writes posts, takes a file or leaves something at a network: what it leaves behind, and that whoever comes
// next finishes it once.

const world = shared(() => mediaWorld({ sandbox: true }))
const copies = (brandId: string) =>
  world().graph.rows<{ copy: string; status: string }>('select copy, status from publishing.posts where brand_id = $1 order by copy', [brandId])

test.each([
  ['in-import', 0],
  ['after-import', 3],
] as const)('P-03 a file of posts that a process dies over, %s, is kept whole or not at all, and once when it is sent again', async (point, left) => {
  const { graph, mutate } = world()
  const { id: brandId } = (await mutate('createBrand', { name: point })).it
  const input = { brandId, csv: 'platform,copy\nx,One\nx,Three\nx,Two', idempotencyKey: point }
  await dies(point, () => mutate('importPosts', input))
  expect(await copies(brandId)).toHaveLength(left)
  const [first, second] = [await mutate('importPosts', input, 'id created rows { postId }'), await mutate('importPosts', input, 'id created rows { postId }')]
  expect([first.it.created, second.it]).toEqual([3, first.it])
  expect((await copies(brandId)).map(({ copy }) => copy)).toEqual(['One', 'Three', 'Two'])
  expect(await graph.rows(`select from publishing.audit_entries where tenant_id = $1 and action = 'posts.imported'`, [brandId])).toHaveLength(1)
})

test('P-02 after a crash during a deletion the post still exists with its wake-up, and the next deletion works', async () => {
  const { graph, mutate, brand } = world()
  const { id } = (await mutate('createPost', { brandId: brand.id, platform: 'X', copy: 'To go', scheduledAt: graph.clock.soon() })).it
  const wakeUps = () => graph.rows(`select from publishing_jobs.job where data->>'postId' = $1 and state = 'created'`, [id])
  await dies('in-post-deletion', () => mutate('deletePost', { id }))
  expect([await stored(graph, { brandId: brand.id, id }), (await wakeUps()).length]).toMatchObject([{ status: 'SCHEDULED', version: 1 }, 1])
  expect((await mutate('deletePost', { id })).error).toBeNull()
  expect([await stored(graph, { brandId: brand.id, id }), await wakeUps()]).toEqual([null, []])
})

test.each([
  'in-upload-end',
  'after-upload-end',
] as const)('P-12 an upload whose process dies %s becomes one asset, though its sender has nothing left to send', async point => {
  const { graph, begin, patch, http, tus, ready } = world()
  const bytes = mp4({ padding: 100_000 })
  const { at } = await begin(bytes.length)
  await dies(point, () => patch(at, 0, bytes))
  const ask = () => http('HEAD', at, { headers: tus })
  const [one, two] = await Promise.all([ask(), ask()])
  const id = one.headers.get('x-media-asset-id')!
  expect([one.headers.get('upload-offset'), two.headers.get('x-media-asset-id')]).toEqual([String(bytes.length), id])
  expect(await ready(id)).toMatchObject({ status: 'READY', bytes: bytes.length })
  expect(await graph.rows(`select from publishing.audit_entries where action = 'media.created' and subject_id = $1`, [id])).toHaveLength(1)
})

test('P-12 a video whose process dies during preparation is prepared again', async () => {
  const { graph, begin, patch, asset } = world()
  const bytes = mp4({ padding: 50_000 })
  const { at } = await begin(bytes.length)
  const id = (await patch(at, 0, bytes)).headers.get('x-media-asset-id')!
  const { prepare } = await import('../../../subgraphs/publishing/media/prepare.ts')
  await dies('medium-looked-at', () => prepare(graph.job, id))
  expect((await asset(id)).status).toBe('PROCESSING')
  await graph.clock.advance(121_000)
  await mediaSweeps(() => graph.job)[0]!.run()
  expect((await asset(id)).status).toBe('READY')
})

test('P-10 a crash after a network has created a container publishes nothing: another is created, and published once', async () => {
  const { graph, owner, brand, mutate } = world()
  const connection = await seedConnection(graph, { brandId: brand.id, owner }, { platform: 'THREADS' })
  const copy = 'In a container'
  const { id } = (await mutate('createPost', { brandId: brand.id, platform: 'THREADS', copy, scheduledAt: graph.clock.soon() })).it
  const post = { brandId: brand.id, id }
  await graph.clock.advance(60_000)
  await dies('container-made', () => wake(graph, post))
  expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'CLAIMED', attempts: 0, prepared: null })
  const there = async () => (await graph.x.at('THREADS').published()).filter(({ text }) => text === copy)
  expect(await there()).toEqual([])
  await graph.clock.advance(claimMs)
  await round(graph)
  expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', connectionId: connection.id, attempts: 1 })
  expect(await there()).toHaveLength(1)
})

test('P-10 after a crash during a Threads reply a person must resolve it at once: the network has it, and does not list its id', async () => {
  const { graph, owner, brand, mutate } = world()
  await seedConnection(graph, { brandId: brand.id, owner }, { platform: 'THREADS' })
  const input = { brandId: brand.id, platform: 'THREADS', scheduledAt: graph.clock.soon() }
  const first = (await mutate('createPost', { ...input, copy: 'A first one' }, 'id threadId')).it
  const reply = (await mutate('createPost', { ...input, copy: 'A reply to it', threadId: first.threadId })).it
  await graph.clock.advance(60_000)
  await wake(graph, { brandId: brand.id, id: first.id })
  await dies('after-call', () => wake(graph, { brandId: brand.id, id: reply.id }))
  await graph.clock.advance(sendMs)
  await round(graph)
  expect(await stored(graph, { brandId: brand.id, id: reply.id })).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' })
  await graph.clock.advance(600_000)
  await round(graph)
  expect((await graph.x.at('THREADS').published()).filter(({ text }) => text === 'A reply to it')).toHaveLength(1)
})
