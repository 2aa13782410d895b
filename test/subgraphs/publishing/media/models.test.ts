import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedCredential } from '../../providers/credential/seed.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld({ sandbox: true })
  await seedCredential(world.graph, { organizationId: null, provider: 'openai', secret: 'sk-sandbox-openai-of-a-test' })
})
afterAll(() => world[Symbol.asyncDispose]())

const arm = async (fault: object) => {
  const answer = await fetch(`${world.graph.x.origin}/_control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ network: 'openai', ...fault }),
  })
  expect(answer.ok).toBe(true)
}

const imageFields = 'images { id model requestedModel prompt previewUrl previewBroken asset { id source status kind } author { id } }'

test('a model generates into the library, and the same key generates once', async () => {
  const input = { brandId: world.brand.id, prompt: 'A lighthouse at dusk', count: 2, idempotencyKey: 'once' }
  const { it, error } = await world.mutate('generateImages', input, imageFields, world.member)
  expect(error).toBe(null)
  expect(it.images).toHaveLength(2)
  expect(it.images[0]).toMatchObject({
    prompt: 'A lighthouse at dusk',
    requestedModel: null,
    previewBroken: false,
    asset: { source: 'GENERATED', status: 'READY', kind: 'IMAGE' },
  })
  expect(it.images[0].author.id).toBe(world.member.userId)
  expect((await world.http('GET', it.images[0].previewUrl)).status).toBe(200)
  const again = await world.mutate('generateImages', input, imageFields, world.member)
  expect(again.it.images.map(({ id }: { id: string }) => id)).toEqual(it.images.map(({ id }: { id: string }) => id))
  expect((await world.mutate('generateImages', { ...input, prompt: 'Another' }, imageFields)).error.extensions).toMatchObject({ reason: 'KEY_REUSED' })
  const listed = await world.ask('query($b: ID!) { generatedImages(brandId: $b) { totalCount nodes { previewBroken } } }', { b: world.brand.id })
  expect(listed.generatedImages.totalCount).toBe(2)
  // Deleted in the library, it stays in the list.
  await world.mutate('deleteMediaAsset', { id: it.images[0].asset.id })
  const left = await world.ask('query($b: ID!) { generatedImages(brandId: $b) { nodes { id previewBroken previewUrl asset { id } } } }', { b: world.brand.id })
  expect(left.generatedImages.nodes.find(({ id }: { id: string }) => id === it.images[0].id)).toEqual({
    id: it.images[0].id,
    previewBroken: true,
    previewUrl: null,
    asset: null,
  })
})

test('generates nothing for a post of another brand', async () => {
  const { id: brandId } = (await world.mutate('createBrand', { name: 'Beside' })).it
  const { id: postId } = (await world.mutate('createPost', { brandId, platform: 'X', copy: 'x' })).it
  const draw = (of: string) => world.mutate('generateImages', { brandId: of, prompt: 'x', postId }, imageFields)
  expect((await draw(world.brand.id)).error.extensions.code).toBe('NOT_FOUND')
  expect((await draw(brandId)).error).toBe(null)
})

test('requires the scope to name a model, also the default one, and refuses one that is not in the catalogue', async () => {
  const draw = (model: string, as = world.owner) => world.mutate('generateImages', { brandId: world.brand.id, prompt: 'x', model }, imageFields, as)
  for (const model of ['openai/gpt-image-1-mini', 'openai/gpt-image-1', 'default', 'openai/no-such-model'])
    expect((await draw(model, world.member)).error.extensions, model).toMatchObject({ code: 'FORBIDDEN', field: 'model' })
  expect((await draw('openai/no-such-model')).error.extensions.code).toBe('BAD_USER_INPUT')
  expect((await draw('openai/gpt-image-1-mini')).it.images[0]).toMatchObject({
    model: expect.stringContaining('mini'),
    requestedModel: 'openai/gpt-image-1-mini',
  })
})

test('a limit of the gateway reports the time to wait, and twenty requests a minute are the maximum', async () => {
  const { id: brandId } = (await world.mutate('createBrand', { name: 'Drawn' })).it
  const draw = () => world.mutate('generateImages', { brandId, prompt: 'x' }, imageFields)
  await arm({ fault: 'status', status: 429, times: 2, resetSeconds: 2 })
  const limited = await draw()
  await arm({ fault: 'none' })
  expect(limited.error.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) })
  expect(limited.error.extensions.retryAfter).toBeLessThanOrEqual(30)
  await world.graph.clock.advance(60_000)
  const { drawing } = world.graph.job
  for (let at = 0; at < 20; at += 1) drawing.add(world.organization.id, world.graph.clock.now())
  expect((await draw()).error.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
})

test('trends are stored for six hours, an invalid one is dropped alone, and an earlier year in the text does not matter', async () => {
  const ask = async () =>
    (
      await world.ask(
        'query($b: ID!) { trends(brandId: $b) { fetchedAt expiresAt trends { id topic summary mentionsEarlierYear brandId url observedAt } } }',
        { b: world.brand.id },
        world.member,
      )
    ).trends
  const first = await ask()
  expect(first.trends).toHaveLength(4)
  expect(first.trends.filter(({ mentionsEarlierYear }: { mentionsEarlierYear: boolean }) => mentionsEarlierYear)).toHaveLength(1)
  expect(Date.parse(first.expiresAt) - Date.parse(first.fetchedAt)).toBe(6 * 3_600_000)
  await world.graph.clock.advance(1_000)
  expect((await ask()).fetchedAt).toBe(first.fetchedAt)
  const refresh = () => world.mutate('refreshTrends', { brandId: world.brand.id }, 'fetchedAt trends { topic }')
  const { it, error } = await refresh()
  expect(error).toBe(null)
  expect(it.fetchedAt > first.fetchedAt).toBe(true)
  for (let at = 0; at < 5; at += 1) expect((await refresh()).error).toBe(null)
  expect((await refresh()).error.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 3600 })
  await world.graph.clock.advance(3_600_000)
  expect((await refresh()).error, 'an hour later').toBe(null)
  await world.graph.clock.advance(6 * 3_600_000)
  const [one, other] = await Promise.all([ask(), ask()])
  expect(one.fetchedAt > it.fetchedAt).toBe(true)
  expect(other, 'who asks meanwhile gets the same').toEqual(one)
})
