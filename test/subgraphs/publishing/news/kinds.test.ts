import { afterAll, beforeAll, expect, test } from 'vitest'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { until } from '../../../kit/launch.ts'
import { seedCredential } from '../../providers/credential/seed.ts'
import { connectIntegration } from '../documents.ts'
import { mp4, png } from '../media/files.ts'
import { type MediaWorld, mediaWorld } from '../media/world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld({ sandbox: true })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Told {
  readonly kind: string
  readonly userId: string | null
  readonly postId: string | null
  readonly connectionId: string | null
}

const list = 'query($b: ID!) { brandActivities(brandId: $b, first: 50) { nodes { kind userId postId connectionId } } }'
const live = 'subscription($b: ID!) { brandActivity(brandId: $b) { kind userId postId connectionId } }'

/** What is told of a brand while somebody works in it, by its stream and in its list: the same, the oldest first. */
async function told(work: (brandId: string) => Promise<unknown>): Promise<readonly Told[]> {
  const brandId: string = (await world.mutate('createBrand', { name: 'Told' })).it.id
  const follower = await world.graph.subscribe(live, { b: brandId }, { as: world.owner })
  await work(brandId)
  const listed: Told[] = (await world.ask(list, { b: brandId })).brandActivities.nodes.toReversed()
  const [first, ...since] = listed
  expect(first).toEqual({ kind: 'BRAND', userId: world.owner.userId, postId: null, connectionId: null })
  await until('everything was told', () => follower.events.length >= since.length)
  const events = follower.events.map(event => (event as { readonly data: { readonly brandActivity: Told } }).data.brandActivity)
  await follower.end()
  expect(events).toEqual(since)
  return since
}

const by = (kind: string, times: number, userId: string | null = world.owner.userId) => Array(times).fill({ kind, userId, postId: null, connectionId: null })

test('publishes media events: direct and partial uploads, generation, changes, filing and deletion', async () => {
  await seedCredential(world.graph, { organizationId: null, provider: 'openai', secret: 'sk-sandbox-openai-of-a-test' })
  const entries = await told(async brandId => {
    const { json } = await world.upload(png(), `brandId=${brandId}`)
    const film = mp4()
    const { at } = await world.begin(film.length, { brandId })
    const last = await world.patch(at, 0, film)
    await world.ready(last.headers.get('x-media-asset-id')!)
    expect((await world.mutate('generateImages', { brandId, prompt: 'A lighthouse' }, 'images { id }', world.member)).error).toBe(null)
    const folder = (await world.mutate('createMediaFolder', { brandId, name: 'Summer' })).it.id
    await world.mutate('updateMediaAsset', { id: json.id, folderId: folder })
    await world.mutate('deleteMediaAsset', { id: json.id })
    await world.mutate('deleteMediaFolder', { id: folder })
  })
  expect(entries).toEqual([...by('MEDIA', 2), ...by('MEDIA', 1, world.member.userId), ...by('MEDIA', 4)])
})

test('publishes campaign events from creation to deletion', async () => {
  const entries = await told(async brandId => {
    const { id } = (await world.mutate('createCampaign', { brandId, name: 'Spring' })).it
    for (const [verb, more] of [['update', { name: 'Summer' }], ['archive'], ['restore'], ['delete']] as const)
      expect((await world.mutate(`${verb}Campaign`, { id, ...more })).error).toBe(null)
  })
  expect(entries).toEqual(by('CAMPAIGN', 5))
})

test('publishes brand events: changed, paused, resumed, archived and restored, but not for changes without effect', async () => {
  const entries = await told(async id => {
    for (const [verb, more] of [['update', { name: 'Other' }], ['pause'], ['pause'], ['resume', { overdue: 'SEND' }], ['archive'], ['restore']] as const)
      await world.mutate(`${verb}Brand`, { id, ...more })
  })
  expect(entries.map(({ kind }) => kind)).toEqual(Array(5).fill('BRAND'))
})

test('publishes account events: connected, given another place and disconnected', async () => {
  const { graph, owner } = world
  let id = ''
  const entries = await told(async brandId => {
    const begun = await graph.execute(connectIntegration, { input: { brandId, platform: 'FACEBOOK' } }, { as: owner })
    const consent = await fetch(`${begun.data().connectIntegration.authorizationUrl}&sandbox_approve=1`, { redirect: 'manual' })
    const back = await graph.platform.publishing.http!(new Request(consent.headers.get('location')!), anonymous)
    expect(back.status).toBe(200)
    const found = await world.ask('query($b: ID!) { connections(brandId: $b, platform: FACEBOOK) { nodes { id targets { kind externalId } } } }', {
      b: brandId,
    })
    const [connection] = found.connections.nodes
    id = connection.id
    const place = connection.targets.at(-1)
    expect((await world.mutate('selectConnectionTargets', { id, targets: [place], default: place })).error).toBe(null)
    expect((await world.mutate('disconnectConnection', { id })).error).toBe(null)
  })
  expect(entries).toEqual(Array(3).fill({ kind: 'CONNECTION', userId: owner.userId, postId: null, connectionId: id }))
})
