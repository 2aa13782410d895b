import { describe, expect, test } from 'vitest'
import { createMetaOauth } from '../../../../subgraphs/publishing/network/meta/exchange.ts'
import { AccessExpired, GrantFailure } from '../../../../subgraphs/publishing/network/network.ts'
import type { Medium, Publication } from '../../../../subgraphs/publishing/network/publication.ts'
import { callback, send } from '../../../sandbox/stage.ts'
import { serveMedia } from './served.ts'
import { type AtTwin, atTwin, publish } from './twin.ts'

/** What is fetched by address, as Meta's networks take media. */
const medium = serveMedia()

const shown = ({ mimeType, bytes, sha256, altText }: Medium & { readonly sha256: string }) => ({ mimeType, bytes, sha256, ...(altText && { altText }) })

async function consent({ network }: AtTwin) {
  const { url, verifier } = await network.authorize({ redirectUri: callback, state: 'a-state' })
  const back = await send(`${url}&sandbox_approve=1`)
  const parameters = new URL(back.headers.get('location')!).searchParams
  return { asked: new URL(url).searchParams, grant: await network.exchange({ parameters, redirectUri: callback, state: 'a-state', verifier }) }
}

const containers = [
  { platform: 'THREADS' as const, scope: 'threads_basic,threads_content_publish' },
  { platform: 'INSTAGRAM' as const, scope: 'instagram_business_basic,instagram_business_content_publish' },
]

describe.each(containers)('P-14 $platform', ({ platform, scope }) => {
  const publication = async (copy: string): Promise<Pick<Publication, 'copy' | 'media'>> => ({ copy, media: [await medium('IMAGE')] })

  test('requests its scopes without PKCE, keeps access for sixty days, and extends it once it is a day old', async () => {
    await using at = await atTwin(platform)
    const { asked, grant } = await consent(at)
    expect(asked.get('scope')).toBe(scope)
    expect([...asked.keys()]).not.toContain('code_challenge')
    expect(grant).toMatchObject({ refreshToken: null, expiresIn: 5_184_000, reconnectIn: 5_184_000 })
    expect(await at.network.account(grant.accessToken)).toMatchObject({
      externalId: at.account.externalId,
      name: '@demo_brand',
      avatarUrl: expect.stringMatching(/^https:/),
    })
    await expect(at.network.refresh(grant), 'too young: of the moment').rejects.toMatchObject({ permanent: false })
    await at.world.clock.advance(86_400_000)
    const next = await at.network.refresh(grant)
    expect(next).toMatchObject({ refreshToken: null, expiresIn: 5_184_000 })
    await at.arm({ fault: 'grant-revoked' })
    await expect(at.network.refresh(next)).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(/^(Instagram|Threads) refused the grant: Error/),
    })
    await expect(at.network.account(next.accessToken)).rejects.toMatchObject({ permanent: true })
  })

  test('grants nothing after a declined consent or with another state; a fault of the network is temporary', async () => {
    await using at = await atTwin(platform)
    const exchange = (parameters: Record<string, string>) =>
      at.network.exchange({ parameters: new URLSearchParams(parameters), redirectUri: callback, state: 's', verifier: '' })
    await expect(exchange({ error: 'access_denied', state: 's' })).rejects.toMatchObject({ permanent: true })
    await expect(exchange({ code: 'c', state: 'other' })).rejects.toMatchObject({ permanent: true })
    await expect(exchange({ code: 'nothing#_', state: 's' })).rejects.toBeInstanceOf(GrantFailure)
    await at.arm({ fault: 'profile-status', status: 503 })
    await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: false })
  })

  test('publishes a picture, a film, and several in their order, and carries its own id and address', async () => {
    await using at = await atTwin(platform)
    const [picture, film, other] = [await medium('IMAGE', 2_000, 'A square'), await medium('VIDEO', 5_000), await medium('IMAGE', 3_000)]
    const { delivery } = await publish(at, { copy: 'One', media: [picture] })
    await publish(at, { copy: 'Two', media: [film] })
    await publish(at, { copy: 'Three', media: [picture, film, other], link: 'https://example.com/a' })
    const received = await at.received()
    expect(delivery).toMatchObject({
      outcome: 'delivered',
      platformPostId: received[0]!.id,
      permalink: expect.stringMatching(/^https:\/\/www\.(threads|instagram)\.com\//),
      limit: { remaining: expect.any(Number), resetsAt: null },
    })
    expect(received.map(({ text }) => text)).toEqual(['One', 'Two', 'Three\n\nhttps://example.com/a'])
    expect(received.map(({ media }) => media)).toEqual([[shown(picture)], [shown(film)], [picture, film, other].map(shown)])
  })

  test('waits while its network processes media, continues from the stored state, and starts over when the post was edited', async () => {
    await using at = await atTwin(platform)
    const asked = at.asks(await publication('Slow'))
    await at.arm({ fault: 'processing', delayMs: 60_000 })
    const first = await at.network.prepare!(asked, null)
    expect(first).toMatchObject({ outcome: 'processing', handle: { container: expect.stringMatching(/^\d+$/) } })
    if (first.outcome !== 'processing') return
    const second = await at.network.prepare!(asked, first.handle)
    expect(second).toMatchObject({ outcome: 'processing', handle: { container: first.handle.container } })
    expect(second.outcome === 'processing' && second.againInMs).toBeGreaterThan(first.againInMs)
    expect(await at.network.prepare!({ ...asked, copy: 'Edited' }, first.handle)).not.toMatchObject({ handle: { container: first.handle.container } })
    await at.world.clock.advance(60_000)
    expect(await at.network.prepare!(asked, first.handle)).toMatchObject({ outcome: 'ready', handle: { container: first.handle.container } })
    expect(await at.received()).toEqual([])
  })

  test('reports failed media when they cannot be fetched, or are given up, and that nothing was sent when a server fails', async () => {
    await using at = await atTwin(platform)
    const prepare = async (more: Partial<Publication> = {}) => at.network.prepare!(at.asks({ ...(await publication('Broken')), ...more }), null)
    expect(await prepare({ media: [{ ...(await medium('IMAGE')), address: () => `${medium('IMAGE').address()}/gone` }] })).toMatchObject({
      outcome: 'refused',
      code: 'MEDIA_FAILED',
      mayPass: true,
    })
    await at.arm({ fault: 'processing-error' })
    expect(await prepare()).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
    await at.arm({ fault: 'media-status', status: 503 })
    expect(await prepare()).toMatchObject({ outcome: 'unsent' })
    await at.arm({ fault: 'expired-token' })
    expect(await prepare()).toMatchObject({ outcome: 'refused', code: 'ACCESS_EXPIRED' })
  })

  test('is found by its container: published or not, and as which post', async () => {
    await using at = await atTwin(platform)
    const since = at.world.clock.now()
    const asked = at.asks(await publication('Doubt'))
    const prepared = await at.network.prepare!(asked, null)
    if (prepared.outcome !== 'ready') throw new Error('not prepared')
    const whole = { ...asked, handle: prepared.handle }
    const find = (except: string[] = []) => at.network.find({ ...whole, media: [] }, since, new Set(except))
    expect(await find()).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'accept-then-reset' })
    expect(await at.network.publish(whole)).toMatchObject({ outcome: 'unknown' })
    const { id } = (await at.received())[0]!
    expect(await find()).toMatchObject({ found: true, platformPostId: id, permalink: expect.stringMatching(/^https:/) })
    await at.arm({ fault: 'listing-lag', delayMs: 60_000 })
    await expect(find(), 'published, and not listed yet').rejects.toThrow('does not list it yet')
    await expect(find([id]), 'as another post’s').rejects.toThrow('does not list it yet')
    await at.arm({ fault: 'expired-token' })
    await expect(find()).rejects.toBeInstanceOf(AccessExpired)
    await expect(at.network.find({ ...whole, handle: null }, since, new Set())).rejects.toThrow('nothing was kept')
    // The same container a second time is a clear no, and nothing more is public.
    expect((await at.network.publish(whole)).outcome).not.toBe('delivered')
    expect(await at.received()).toHaveLength(1)
  })

  test('finds, of several posts with the same text, the oldest that belongs to no other attempt', async () => {
    await using at = await atTwin(platform)
    const since = at.world.clock.now()
    const { asked } = await publish(at, await publication('Twice'))
    await at.world.clock.advance(60_000)
    await publish(at, await publication('Twice'))
    const [first, second] = (await at.received()).map(({ id }) => id)
    expect(await at.network.find({ ...asked, media: [] }, since, new Set())).toMatchObject({ found: true, platformPostId: first })
    expect(await at.network.find({ ...asked, media: [] }, since, new Set([first!]))).toMatchObject({ found: true, platformPostId: second })
  })

  test('reads how many posts are left, and prepares none when there is none', async () => {
    await using at = await atTwin(platform)
    const most = platform === 'THREADS' ? 250 : 100
    const asked = at.asks(await publication('Full'))
    const full = await at.network.prepare!(asked, null)
    expect(full).toMatchObject({ outcome: 'ready', handle: { left: most, limit: most } })
    if (full.outcome !== 'ready') return
    expect(await at.network.publish({ ...asked, handle: full.handle })).toMatchObject({ limit: { limit: most, remaining: most - 1, resetsAt: null } })
  })
})

test('Threads: a text alone, its link as a preview, later posts and first comments as replies, whose ids are not listed', async () => {
  await using at = await atTwin('THREADS')
  const since = at.world.clock.now()
  const { delivery } = await publish(at, { copy: 'Head', link: 'https://example.com/a' })
  if (delivery.outcome !== 'delivered') throw new Error(JSON.stringify(delivery))
  const { asked, delivery: reply } = await publish(at, { copy: 'Reply', inReplyTo: delivery.platformPostId })
  expect(reply.outcome).toBe('delivered')
  const comment = { accessToken: at.accessToken, placeToken: null, account: at.account, target: null, platformPostId: delivery.platformPostId }
  expect(await at.network.comment!({ ...comment, text: 'First' })).toMatchObject({ outcome: 'delivered' })
  expect((await at.received()).map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
    ['Head', null],
    ['Reply', delivery.platformPostId],
    ['First', delivery.platformPostId],
  ])
  await expect(at.network.find(asked, since, new Set())).rejects.toThrow('does not tell under which id')
})

test('Instagram: reads likes and comments of existing posts, and followers; it publishes no text alone', async () => {
  await using at = await atTwin('INSTAGRAM')
  const { delivery } = await publish(at, { copy: 'Counted', media: [await medium('IMAGE')] })
  const id = delivery.outcome === 'delivered' ? delivery.platformPostId : ''
  const from = { accessToken: at.accessToken, placeToken: null, account: at.account, target: null }
  const none = { impressions: null, shares: null, clicks: null, videoViews: null }
  expect(await at.network.figures!(from, [id, '17841000000000000'])).toEqual(new Map([[id, { likes: 3, comments: 1, ...none }]]))
  expect(await at.network.followers!(from)).toBe(42)
  expect(await at.network.prepare!(at.asks({ copy: 'Text alone' }), null)).toMatchObject({ outcome: 'refused', code: 'CONTENT_REFUSED' })
})

describe('P-14 FACEBOOK', () => {
  const demoGroup = (at: AtTwin) => at.account.places!.find(({ kind }) => kind === 'GROUP')!

  test('requests its scopes, lists pages with their tokens and groups, and cannot be renewed', async () => {
    await using at = await atTwin('FACEBOOK')
    const { asked, grant } = await consent(at)
    expect(asked.get('scope')).toBe('pages_show_list,pages_manage_posts,pages_read_engagement,pages_manage_engagement,business_management,publish_to_groups')
    expect(grant).toMatchObject({ refreshToken: null, expiresIn: null, reconnectIn: 5_184_000 })
    await expect(at.network.refresh(grant)).rejects.toMatchObject({ permanent: true })
    expect((await at.network.account(grant.accessToken)).places).toMatchObject([
      { kind: 'PAGE', name: 'Demo Brand', available: true, accessToken: expect.any(String) },
      { kind: 'PAGE', name: 'Demo Brand Shop' },
      { kind: 'GROUP', accessToken: null },
    ])
    await at.network.revoke!({ accessToken: grant.accessToken, refreshToken: null })
    await expect(at.network.account(grant.accessToken)).rejects.toMatchObject({ permanent: true })
  })

  test('requests no groups unless an operator allows them', async () => {
    await using at = await atTwin('FACEBOOK', { groupsEnabled: '0' })
    const { asked, grant } = await consent(at)
    expect(asked.get('scope')).not.toContain('publish_to_groups')
    expect((await at.network.account(grant.accessToken)).places!.map(({ kind }) => kind)).toEqual(['PAGE', 'PAGE'])
    const toGroup = at.asks({ copy: 'No', target: { kind: 'GROUP', externalId: '210000000000', name: null }, placeToken: null })
    expect(await at.network.prepare!(toGroup, null)).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    expect(await at.network.publish(toGroup)).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    expect(await at.received()).toEqual([])
  })

  test('publishes on a page and in a group: a text with its link, pictures, a film; later posts and first comments are comments', async () => {
    await using at = await atTwin('FACEBOOK')
    const [one, two, film] = [await medium('IMAGE', 2_000, 'A square'), await medium('IMAGE', 3_000), await medium('VIDEO', 5_000)]
    const group = demoGroup(at)
    const { delivery } = await publish(at, { copy: 'Text', link: 'https://example.com/a' })
    expect((await at.received())[0]!.link).toBe('https://example.com/a')
    await publish(at, { copy: 'Pictures', media: [one, two], link: 'https://example.com/a' })
    const { delivery: ofFilm } = await publish(at, { copy: 'Film', media: [film] })
    await publish(at, { copy: 'In the group', target: { kind: 'GROUP', externalId: group.externalId, name: group.name }, placeToken: null })
    if (delivery.outcome !== 'delivered') throw new Error(JSON.stringify(delivery))
    await publish(at, { copy: 'Later', inReplyTo: delivery.platformPostId })
    const page = at.account.places![0]!
    const from = {
      accessToken: at.accessToken,
      placeToken: page.accessToken,
      account: at.account,
      target: { kind: 'PAGE' as const, externalId: page.externalId, name: page.name },
    }
    expect(await at.network.comment!({ ...from, platformPostId: delivery.platformPostId, text: 'First' })).toMatchObject({ outcome: 'delivered' })
    const received = await at.received()
    expect(received.map(({ text, target, inReplyToId }) => [text, target?.kind, inReplyToId])).toEqual([
      ['Text', 'page', null],
      ['Pictures\n\nhttps://example.com/a', 'page', null],
      ['Film', 'page', null],
      ['In the group', 'group', null],
      ['Later', 'page', delivery.platformPostId],
      ['First', 'page', delivery.platformPostId],
    ])
    expect(received[1]!.media).toEqual([one, two].map(shown))
    expect(received[2]).toMatchObject({ media: [shown(film)], id: ofFilm.outcome === 'delivered' && ofFilm.platformPostId })
    expect(delivery).toMatchObject({ platformPostId: received[0]!.id, permalink: `https://www.facebook.com/${received[0]!.id}` })
    expect(await at.network.figures!(from, [delivery.platformPostId, '1_2'])).toEqual(
      new Map([[delivery.platformPostId, { likes: 3, comments: 1, shares: 2, impressions: null, clicks: null, videoViews: null }]]),
    )
    expect(await at.network.followers!(from)).toBe(42)
  })

  test('marks a missing page or group, or one without a token, as unavailable; missing media have failed', async () => {
    await using at = await atTwin('FACEBOOK')
    const target = { kind: 'PAGE' as const, externalId: '110000000000', name: null }
    expect((await publish(at, { copy: 'Gone', target })).delivery).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    expect(await at.network.publish({ ...at.asks({ copy: 'No token' }), placeToken: null })).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    expect(await at.network.publish(at.asks({ copy: 'Nowhere', target: null }))).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    const broken = { ...(await medium('IMAGE')), address: () => `${medium('IMAGE').address()}/gone` }
    expect(await at.network.prepare!(at.asks({ copy: 'Broken', media: [broken] }), null)).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
    await at.arm({ fault: 'media-status', status: 503 })
    expect(await at.network.prepare!(at.asks({ copy: 'Broken', media: [await medium('IMAGE')] }), null)).toMatchObject({ outcome: 'unsent' })
  })

  test('reuses uploaded pictures, but never those of another page', async () => {
    await using at = await atTwin('FACEBOOK')
    const asked = at.asks({ copy: 'A picture', media: [await medium('IMAGE')] })
    const [, other] = at.account.places!
    const photosOf = async (...prepared: Parameters<NonNullable<typeof at.network.prepare>>) => {
      const end = await at.network.prepare!(...prepared)
      if (end.outcome !== 'ready') throw new Error(JSON.stringify(end))
      return end.handle
    }
    const first = await photosOf(asked, null)
    expect(await photosOf(asked, first)).toEqual(first)
    const elsewhere = { ...asked, target: { kind: 'PAGE' as const, externalId: other!.externalId, name: other!.name }, placeToken: other!.accessToken! }
    expect((await photosOf(elsewhere, first))!.photos).not.toEqual(first!.photos)
  })

  test('finds a post in the page’s list by its text, and never asks groups', async () => {
    await using at = await atTwin('FACEBOOK')
    const since = at.world.clock.now()
    const find = (asked: Publication, except: string[] = []) => at.network.find({ ...asked, media: [] }, since, new Set(except))
    const text = await publish(at, { copy: 'Words' })
    const film = await publish(at, { copy: 'Film', media: [await medium('VIDEO')] })
    const id = (text.delivery as { platformPostId: string }).platformPostId
    expect(await find(text.asked)).toMatchObject({ found: true, platformPostId: id })
    expect(await find(film.asked)).toMatchObject({
      found: true,
      platformPostId: (film.delivery as { platformPostId: string }).platformPostId,
      permalink: expect.stringMatching(/^https:\/\/www\.facebook\.com\/\d+\/videos\//),
    })
    expect(await find(text.asked, [id])).toEqual({ found: false, isAnothers: true })
    const later = await publish(at, { copy: 'Later', inReplyTo: id })
    expect(await find(later.asked)).toMatchObject({ found: true })
    expect(await find({ ...text.asked, copy: 'Other words' })).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'expired-token' })
    await expect(find(text.asked)).rejects.toBeInstanceOf(AccessExpired)
    expect(at.network.lookupOf!({ kind: 'GROUP', externalId: '1', name: null })).toBe('NONE')
    expect(at.network.lookupOf!({ kind: 'PAGE', externalId: '1', name: null })).toBe('BY_LISTING')
  })
})

test.each([
  ['of the code', 400, { code: 100 }, true],
  ['of the token', 400, { code: 190 }, true],
  ['of our application, which its operator mends', 400, { code: 101 }, false],
  ['of the moment', 400, { code: 2 }, false],
  ['of too many', 429, null, false],
  ['of a server', 503, null, false],
])('P-14 a no %s, as Meta’s networks say it (%i, %j), is for good: %s', async (_what, status, error, permanent) => {
  const no = async () => ({ status, said: {}, error })
  const server = { title: 'Threads', clientId: 'c', authorizeUrl: 'https://a.test', scopes: [], short: no, long: no, extend: null, lasts: false }
  const asked = { parameters: new URLSearchParams({ code: 'c', state: 's' }), redirectUri: callback, state: 's', verifier: '' }
  await expect(createMetaOauth(server).exchange(asked)).rejects.toMatchObject({ permanent })
})
