import { describe, expect, test } from 'vitest'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { createXFigures } from '../../../../subgraphs/publishing/network/x/figures.ts'
import { createXMedia } from '../../../../subgraphs/publishing/network/x/media.ts'
import { send } from '../../../sandbox/stage.ts'
import { atTwin, mediumOf, publish } from './twin.ts'

const none = new Set<string>()

describe('P-14 pictures and films on X', () => {
  test('are uploaded in parts with their descriptions, and are complete in their post', async () => {
    await using at = await atTwin('X')
    const [picture, large] = [mediumOf('IMAGE', 2_000, 'A cat & a dog'), mediumOf('IMAGE', 5_000_000)]
    const { delivery, asked } = await publish(at, { copy: 'Two pictures', media: [picture, large] })
    const [received] = await at.received()
    expect(delivery).toMatchObject({ outcome: 'delivered', platformPostId: received!.id, limit: { limit: 100, remaining: 99, resetsAt: expect.any(Date) } })
    expect(received).toMatchObject({ text: 'Two pictures', media: [picture, large].map(({ mimeType, bytes, sha256 }) => ({ mimeType, bytes, sha256 })) })
    expect(await at.network.find(asked, at.world.clock.now(), none)).toMatchObject({ found: true, platformPostId: received!.id })
  })

  test('that X processes are asked about again; unreadable ones fail', async () => {
    await using at = await atTwin('X')
    const asked = at.asks({ copy: 'A film', media: [mediumOf('VIDEO', 9_000_000)] })
    await at.arm({ fault: 'processing', delayMs: 5_000 })
    const first = await at.network.prepare!(asked, null)
    if (first.outcome !== 'processing') throw new Error(JSON.stringify(first))
    expect(first.againInMs).toBe(1_000)
    expect((await at.network.prepare!(asked, first.handle)).outcome).toBe('processing')
    at.world.clock.advance(5_000)
    const ready = await at.network.prepare!(asked, first.handle)
    if (ready.outcome !== 'ready') throw new Error(JSON.stringify(ready))
    expect(await at.network.publish({ ...asked, handle: ready.handle })).toMatchObject({ outcome: 'delivered' })
    await at.arm({ fault: 'processing-error' })
    expect(await at.network.prepare!(asked, null)).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
  })

  test.each([
    [503, { outcome: 'unsent' }],
    [429, { outcome: 'refused', code: 'RATE_LIMITED' }],
    [400, { outcome: 'refused', code: 'MEDIA_FAILED' }],
    [401, { outcome: 'refused', code: 'ACCESS_EXPIRED' }],
  ])('answered with %i: nothing is there, and it may be tried again where that helps', async (status, preparation) => {
    await using at = await atTwin('X')
    await at.arm({ fault: 'media-status', status })
    expect(await at.network.prepare!(at.asks({ copy: 'A', media: [mediumOf('IMAGE')] }), null)).toMatchObject(preparation)
    expect(await at.received()).toEqual([])
  })

  const page = '<title>Welcome</title>'
  test.each([
    ['initialize', 200, page],
    ['finalize', 200, page],
    ['command=STATUS', 200, page],
    ['initialize', 200, '{"data":{"id":7}}'],
    ['initialize', 302, page],
  ])('answered where %s is asked with %i and %s: nobody was told no, so it is tried again', async (step, status, text) => {
    await using at = await atTwin('X')
    const asked = at.asks({ copy: 'A film', media: [mediumOf('VIDEO')] })
    await at.arm({ fault: 'processing', delayMs: 60_000 })
    const left = await at.network.prepare!(asked, null)
    if (left.outcome !== 'processing') throw new Error(JSON.stringify(left))
    const paged: WayOut = Object.assign(
      async (...[url, options]: Parameters<WayOut>) => (String(url).includes(step) ? { status, headers: new Headers(), text } : at.outbound(url, options)),
      { stream: at.outbound.stream },
    )
    const { prepare } = createXMedia({ apiUrl: `${at.world.sandbox.origin}/x` }, paged)
    expect(await prepare(asked, step === 'command=STATUS' ? left.handle : null)).toMatchObject({ outcome: 'unsent' })
  })

  test('are prepared in no call for a text alone', async () => {
    await using at = await atTwin('X')
    expect(await at.network.prepare!(at.asks({ copy: 'Text' }), null)).toEqual({ outcome: 'ready', handle: { mediaIds: [], pending: [] } })
  })
})

test('a link is sent to X after the text, and found again in its list', async () => {
  await using at = await atTwin('X')
  const link = 'https://shop.example/sale/autumn'
  const { delivery, asked } = await publish(at, { copy: 'Autumn sale', link })
  const [received] = await at.received()
  expect(received).toMatchObject({ text: `Autumn sale\n\n${link}` })
  expect(delivery).toMatchObject({ outcome: 'delivered', platformPostId: received!.id })
  expect(await at.network.find(asked, at.world.clock.now(), none)).toMatchObject({ found: true, platformPostId: received!.id })
  const { delivery: again } = await publish(at, { copy: `Look at ${link} again`, link })
  expect(again.outcome).toBe('delivered')
  expect((await at.received()).at(-1)).toMatchObject({ text: `Look at ${link} again` })
})

test('P-13 a comment on X is a reply to the post', async () => {
  await using at = await atTwin('X')
  const { delivery } = await publish(at, { copy: 'A post' })
  if (delivery.outcome !== 'delivered') throw new Error(delivery.outcome)
  const { accessToken, account } = at
  const about = { accessToken, placeToken: null, account, target: null, platformPostId: delivery.platformPostId, text: 'More here' }
  expect(await at.network.comment!(about)).toMatchObject({ outcome: 'delivered' })
  expect((await at.received()).map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
    ['A post', null],
    ['More here', delivery.platformPostId],
  ])
  await at.arm({ fault: 'accept-then-reset' })
  expect(await at.network.comment!({ ...about, text: 'Again' })).toMatchObject({ outcome: 'unknown' })
})

test('P-18 reads X’s figures of a post, and the followers', async () => {
  await using at = await atTwin('X')
  const { delivery } = await publish(at, { copy: 'Counted' })
  const id = delivery.outcome === 'delivered' ? delivery.platformPostId : ''
  const from = { accessToken: at.accessToken, placeToken: null, account: at.account, target: null }
  const figures = { impressions: 0, likes: 0, comments: 0, shares: 0, clicks: null, videoViews: null }
  expect([...(await at.network.figures!(from, [id, '1']))]).toEqual([[id, figures]])
  expect(await at.network.followers!(from)).toBe(0)
})

test('P-18 quotes on X count as shares like reposts; figures that X omits are null', async () => {
  const counted = { '1': { retweet_count: 2, quote_count: 3, reply_count: 1 }, '2': { retweet_count: 2 }, '3': { like_count: 0 } }
  const text = JSON.stringify({ data: Object.entries(counted).map(([id, public_metrics]) => ({ id, public_metrics })) })
  const outbound = async () => ({ status: 200, headers: new Headers(), text })
  const { figures } = createXFigures({ apiUrl: 'https://x.test' }, outbound)
  const told = await figures({ accessToken: 't' } as Parameters<typeof figures>[0], ['1', '2', '3'])
  expect([...told].map(([id, { shares, comments, likes }]) => [id, shares, comments, likes])).toEqual([
    ['1', 5, 1, null],
    ['2', 2, null, null],
    ['3', null, null, 0],
  ])
})

test('P-14 reads the account at X’s earlier address when the present one fails; a grant can be revoked', async () => {
  await using at = await atTwin('X')
  await at.arm({ fault: 'profile-status', status: 503 })
  expect(await at.network.account(at.accessToken)).toEqual(at.account)
  await at.network.revoke!({ accessToken: at.accessToken, refreshToken: at.refreshToken })
  await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: true })
})

test('the documentation’s own example of an upload: initialize, append, finalize, and a post with it', async () => {
  await using at = await atTwin('X')
  const { origin } = at.world.sandbox
  const call = (path: string, body: object | FormData) =>
    send(`${origin}/x/2/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${at.accessToken}`, ...(!(body instanceof FormData) && { 'content-type': 'application/json' }) },
      body: body instanceof FormData ? body : JSON.stringify(body),
    })
  const begun = await call('media/upload/initialize', { media_type: 'video/mp4', total_bytes: 4, media_category: 'tweet_video' })
  expect(begun).toMatchObject({ status: 200, body: { data: { id: expect.stringMatching(/^\d+$/), media_key: expect.stringMatching(/^7_/) } } })
  const { id } = begun.body.data
  const part = new FormData()
  part.set('segment_index', '0')
  part.set('media', new Blob(['film']))
  expect((await call(`media/upload/${id}/append`, part)).status).toBe(200)
  expect((await call('tweets', { text: 'Too soon', media: { media_ids: [id] } })).status).toBe(400)
  expect((await call(`media/upload/${id}/finalize`, {})).body.data).toMatchObject({ id, processing_info: { state: 'succeeded' } })
  expect((await call('tweets', { text: 'A film', media: { media_ids: [id] } })).status).toBe(201)
  expect((await call('media/upload/initialize', { media_type: 'text/html', total_bytes: 4, media_category: 'tweet_image' })).status).toBe(400)
})
