import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { reconcile } from '../../../../subgraphs/publishing/delivery/reconcile.ts'
import { absentAfterMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { count } from '../../../../subgraphs/publishing/insight/analytics/collect.ts'
import type { Gateway, Network } from '../../../../subgraphs/publishing/network/network.ts'
import { open } from '../../../../subgraphs/publishing/network/youtube/adapter.ts'
import type { YoutubeApplication } from '../../../../subgraphs/publishing/network/youtube/oauth.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import { shared } from '../../../kit/shared.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedConnection } from '../connection/seed.ts'
import { round, wake } from '../delivery/delivering.ts'
import { post as postDocument } from '../documents.ts'
import { mp4 } from '../media/files.ts'
import { mediaWorld } from '../media/world.ts'
import { letPublishingCall } from './client.ts'

/** A brand that is connected with YouTube, by the gateway at which publishing is a client. */
const world = shared(async () => {
  const made = await mediaWorld({ sandbox: true })
  const { graph, owner, brand, begin, patch, ready } = made
  await letPublishingCall(graph)
  const connection = await seedConnection(graph, { brandId: brand.id, owner }, { platform: 'YOUTUBE' })
  const bytes = mp4({ padding: 300_000 })
  const { at } = await begin(bytes.length)
  const film = await ready((await patch(at, 0, bytes)).headers.get('x-media-asset-id')!)
  return { ...made, connection, film, bytes }
})
let films = 0

/** A film that is due now. */
async function due(more: object = {}) {
  const { graph, owner, brand, mutate, film } = world()
  films += 1
  const said = { title: `Film ${films}`, copy: `All about film ${films}`, scheduledAt: graph.clock.in(60_000).toISOString(), media: [{ assetId: film.id }] }
  const { it, error } = await mutate('createPost', { brandId: brand.id, platform: 'YOUTUBE', ...said, ...more }, 'id')
  if (error) throw new Error(JSON.stringify(error))
  await graph.clock.advance(60_000)
  const key = { brandId: brand.id, id: it.id as string, postId: it.id as string }
  const twin = graph.x.at('YOUTUBE')
  return {
    ...{ graph, owner, key, twin, copy: said.copy },
    read: async () => (await graph.execute(postDocument, { id: it.id }, { as: owner })).data().post,
    published: async () => (await twin.published()).filter(({ text }) => text === said.copy),
  }
}

/** Has something happen once, right before the one call that publishes, or in its place. */
function atTheCall({ job }: Supergraph, happens: (call: () => Promise<unknown>) => Promise<void>): AsyncDisposable {
  const networks = job.networks as Map<'YOUTUBE', Network>
  const real = networks.get('YOUTUBE')!
  let hasHappened = false
  networks.set('YOUTUBE', {
    ...real,
    async publish(publication) {
      const isSecond = hasHappened
      hasHappened = true
      if (!isSecond) await happens(() => real.publish(publication))
      return real.publish(publication)
    },
  })
  return {
    async [Symbol.asyncDispose]() {
      networks.set('YOUTUBE', real)
    },
  }
}

/** Speaks to YouTube as a process does that has prepared nothing. */
function anotherProcess({ job, x }: Supergraph): AsyncDisposable {
  const networks = job.networks as Map<'YOUTUBE', Network>
  const real = networks.get('YOUTUBE')!
  const gateway: Gateway = (path, organizationId, options) => job.call!(`/providers${path}`, { appId: 'app_publishing', organizationId }, options)
  networks.set('YOUTUBE', open(x.applications.YOUTUBE as YoutubeApplication, job.outbound, gateway))
  return {
    async [Symbol.asyncDispose]() {
      networks.set('YOUTUBE', real)
    },
  }
}

describe('P-14 P-10 a video for YouTube, through the gateway', () => {
  test('is published once, complete and private, counted for its organization, and its figures are read', async () => {
    const { film, bytes, owner } = world()
    const { graph, key, read, published } = await due()
    await wake(graph, key)
    await wake(graph, key)
    const [received, ...others] = await published()
    expect(others).toEqual([])
    expect(received).toMatchObject({
      privacyStatus: 'private',
      title: `Film ${films}`,
      media: [{ mimeType: 'video/mp4', bytes: bytes.length, sha256: film.sha256 }],
    })
    const { id } = received!
    expect(await read()).toMatchObject({ status: 'PUBLISHED', platformPostId: id, permalink: `https://www.youtube.com/watch?v=${id}`, failure: null })
    const used = await graph.rows('select distinct organization_id, app_id from providers.calls')
    expect(used).toEqual([{ organization_id: owner.organizationId, app_id: 'app_publishing' }])
    await count(graph.job, [(await graph.job.posts.byId.load(key.id))!])
    const snapshots = await graph.rows('select * from publishing.figure_snapshots where post_id = $1', [key.id])
    expect(snapshots).toHaveLength(1)
  })

  // A fault is spent by whichever call comes first: the one that begins the upload here, the last part in `answers.test.ts`.
  test.each([
    { fault: 'status', status: 500, times: 1 },
    { fault: 'status-after-accept', status: 503, times: 1 },
    { fault: 'accept-then-reset', times: 1 },
    { fault: 'slow', delayMs: 30, times: 1 },
    { fault: 'expired-token', times: 1 },
    { fault: 'media-status', status: 503, times: 1 },
    { fault: 'processing', delayMs: 60_000, times: 1 },
  ])('meets $fault $status, and is delivered exactly once', async fault => {
    const { graph, key, read, twin, published } = await due()
    await twin.arm(fault)
    for (let tries = 0; tries < 4 && (await read()).status !== 'PUBLISHED'; tries += 1) {
      await wake(graph, key)
      await graph.clock.advance(20_000)
      await reconcile(graph.job, key)
    }
    const found = await published()
    expect([await read(), found.length]).toMatchObject([{ status: 'PUBLISHED', platformPostId: found[0]?.id }, 1])
  })

  test.each([
    { fault: 'status', status: 500, there: 0 },
    { fault: 'status', status: 503, there: 0 },
    { fault: 'status-after-accept', status: 503, there: 1 },
    { fault: 'accept-then-reset', there: 1 },
    { fault: 'slow', delayMs: 30, there: 1 },
    { fault: 'expired-token', there: 1 },
  ])('whose last part meets $fault $status is asked for by its upload, and never sent twice', async ({ there, ...fault }) => {
    const { graph, key, read, twin, published } = await due()
    await using _ = atTheCall(graph, () => twin.arm(fault))
    await wake(graph, key)
    for (let asked = 0; asked < 8; asked += 1) {
      await graph.clock.advance(60_000)
      await reconcile(graph.job, key)
    }
    const found = await published()
    expect(found).toHaveLength(there)
    expect(await read()).toMatchObject(
      there === 1 ? { status: 'PUBLISHED', platformPostId: found[0]!.id } : { status: 'FAILED', deliveryPhase: 'NONE', failure: { code: 'NOT_DELIVERED' } },
    )
  })

  test('is found by its attempt’s upload when its worker dies right after the call', async () => {
    const { graph, key, read, published } = await due()
    {
      await using _ = atTheCall(graph, async call => {
        await call()
        throw new Error('the worker is gone')
      })
      await expect(wake(graph, key)).rejects.toThrow('the worker is gone')
    }
    expect(await read()).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'SENDING' })
    await graph.clock.advance(sendMs)
    await round(graph)
    await graph.clock.advance(5_000)
    await round(graph)
    const found = await published()
    expect([await read(), found.length]).toMatchObject([{ status: 'PUBLISHED', platformPostId: found[0]?.id }, 1])
  })

  test('is sent by another process from the same upload, once, when its worker dies before the call', async () => {
    const { graph, key, read, published } = await due()
    {
      await using _ = atTheCall(graph, async () => {
        throw new Error('the worker is gone')
      })
      await expect(wake(graph, key)).rejects.toThrow('the worker is gone')
    }
    await using _ = anotherProcess(graph)
    await graph.clock.advance(sendMs)
    await round(graph)
    expect([(await read()).deliveryPhase, await published()]).toEqual(['SENDING', []])
    await graph.clock.advance(absentAfterMs)
    await round(graph)
    const found = await published()
    expect([await read(), found.length]).toMatchObject([{ status: 'PUBLISHED', platformPostId: found[0]?.id }, 1])
    expect(found[0]!.media).toMatchObject([{ sha256: world().film.sha256 }])
  })

  test('fails when YouTube cannot process it, and is not published', async () => {
    const { graph, key, read, twin, published } = await due()
    await twin.arm({ fault: 'processing-error' })
    await wake(graph, key)
    expect([await read(), await published()]).toMatchObject([{ status: 'FAILED', failure: { code: 'MEDIA_FAILED' } }, []])
  })

  test('waits while publishing may not call the gateway, keeps its connection, and is sent when it may', async () => {
    const { connection } = world()
    const { graph, key, read } = await due()
    const change = (operations: string) => graph.rows(`update providers.service_clients set operations = $1 where app_id = 'app_publishing'`, [operations])
    await change('{}')
    graph.platform.providers.job('test').clients.forget()
    await wake(graph, key)
    expect(await read()).toMatchObject({ status: 'SCHEDULED', waitsUntil: expect.any(String) })
    expect(await graph.job.connections.byId.clear(connection.id).load(connection.id)).toMatchObject({ active: true })
    await change('{VIDEO}')
    graph.platform.providers.job('test').clients.forget()
    await graph.clock.advance(60_000)
    await wake(graph, key)
    expect(await read()).toMatchObject({ status: 'PUBLISHED' })
  })

  test('is not begun above the organization’s quota: it fails as limited, and the next one knows until when', async () => {
    const { owner } = world()
    const { graph, key, read } = await due()
    const input = { bucket: 'videos.insert', organizationId: owner.organizationId, dailyLimit: 0 }
    const as = person(newId(), newId(), ['owner', 'platform_super_admin'])
    const cap = (dailyLimit: number | null) =>
      graph.execute('mutation($input: SetVideoQuotaInput!) { setVideoQuota(input: $input) { name } }', { input: { ...input, dailyLimit } }, { as })
    ;(await cap(0)).data()
    await wake(graph, key)
    expect(await read()).toMatchObject({ status: 'FAILED', failure: { code: 'RATE_LIMITED' } })
    const [row] = await graph.rows<{ rate_limit: { remaining: number; resetsAt: string } }>(
      `select rate_limit from publishing.connections where platform = 'YOUTUBE'`,
    )
    expect(row!.rate_limit).toMatchObject({ remaining: 0, resetsAt: expect.stringMatching(/T0[78]:00:00/) })
    ;(await cap(null)).data()
  })
})
