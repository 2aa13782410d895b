import { describe, expect, test } from 'vitest'
import { readLittleText } from '../../../../sandbox/social/linkedin/text.ts'
import type { Calls } from '../../../../subgraphs/publishing/network/linkedin/calls.ts'
import { findListed } from '../../../../subgraphs/publishing/network/linkedin/listing.ts'
import { fromCommentary, toCommentary } from '../../../../subgraphs/publishing/network/linkedin/text.ts'
import { AccessExpired, GrantFailure } from '../../../../subgraphs/publishing/network/network.ts'
import { callback, send } from '../../../sandbox/stage.ts'
import { publication } from '../delivery/publication.ts'
import { type AtTwin, atTwin, mediumOf, publish } from './twin.ts'

/** Goes the way of a person through the consent page. */
async function consent({ network, world }: AtTwin, state = 'a-state') {
  const { url, verifier } = await network.authorize({ redirectUri: callback, state })
  const back = await send(`${url}&sandbox_approve=1`)
  const parameters = new URL(back.headers.get('location')!).searchParams
  return { asked: new URL(url), grant: await network.exchange({ parameters, redirectUri: callback, state, verifier }), world }
}

describe('P-14 connecting LinkedIn', () => {
  test('requests four scopes without PKCE, keeps access for 60 days, and cannot be renewed', async () => {
    await using at = await atTwin('LINKEDIN')
    const { asked, grant } = await consent(at)
    expect(asked.searchParams.get('scope')).toBe('openid profile email w_member_social')
    expect([...asked.searchParams.keys()]).not.toContain('code_challenge')
    expect(grant).toMatchObject({ refreshToken: null, expiresIn: 5_184_000, reconnectIn: 5_184_000, scopes: expect.arrayContaining(['w_member_social']) })
    expect(await at.network.account(grant.accessToken)).toMatchObject({ externalId: at.account.externalId, name: 'Demo Brand', avatarUrl: expect.any(String) })
    expect(at.account).not.toHaveProperty('places')
    await expect(at.network.refresh(grant)).rejects.toMatchObject({ permanent: true })
  })

  test('for pages requests four other scopes, lists the organizations that the person administers, and is renewed for a year from the first login', async () => {
    await using at = await atTwin('LINKEDIN_PAGE')
    const { asked, grant } = await consent(at)
    expect(asked.searchParams.get('scope')).toBe('r_basicprofile w_organization_social r_organization_social rw_organization_admin')
    expect(grant).toMatchObject({ refreshToken: expect.any(String), reconnectIn: 31_536_000 })
    const { places } = await at.network.account(grant.accessToken)
    expect(places).toMatchObject([
      { kind: 'ORGANIZATION', name: 'Demo Brand', available: true, externalId: expect.stringMatching(/^\d+$/) },
      { kind: 'ORGANIZATION', name: 'Demo Brand Careers' },
    ])
    await at.world.clock.advance(86_400_000)
    const renewed = await at.network.refresh(grant)
    expect(renewed).toMatchObject({ refreshToken: grant.refreshToken, reconnectIn: 31_536_000 - 86_400 })
    await at.arm({ fault: 'grant-revoked' })
    await expect(at.network.refresh(renewed)).rejects.toMatchObject({ permanent: true })
  })

  test('retries reading a profile after a failure, and revokes access at LinkedIn', async () => {
    await using at = await atTwin('LINKEDIN')
    await at.arm({ fault: 'profile-status', status: 503 })
    await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: false })
    await at.network.revoke!({ accessToken: at.accessToken, refreshToken: null })
    await expect(at.network.account(at.accessToken)).rejects.toBeInstanceOf(GrantFailure)
    await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: true })
  })
})

describe('P-14 a post on LinkedIn', () => {
  test('shows pictures with their alternative texts in order, one video in parts, or a link', async () => {
    await using at = await atTwin('LINKEDIN_PAGE')
    const pictures = [mediumOf('IMAGE', 2_000, 'A blue square'), mediumOf('IMAGE', 3_000)]
    await publish(at, { copy: 'One', media: pictures.slice(0, 1), link: 'https://example.com/a' })
    await publish(at, { copy: 'Two', media: pictures })
    const film = mediumOf('VIDEO', 9_000_000)
    const { delivery } = await publish(at, { copy: 'Three', media: [film], title: 'A film' })
    await publish(at, { copy: 'Four', link: 'https://example.com/a' })
    expect(delivery).toMatchObject({
      platformPostId: expect.stringMatching(/^urn:li:ugcPost:\d+$/),
      permalink: expect.stringMatching(/^https:\/\/www\.linkedin\.com\/feed\/update\/urn:li:/),
    })
    const received = await at.received()
    expect(received.map(({ text }) => text)).toEqual(['One\n\nhttps://example.com/a', 'Two', 'Three', 'Four'])
    const shown = ({ mimeType, bytes, sha256, altText }: (typeof pictures)[number]) => ({ mimeType, bytes, sha256, ...(altText && { altText }) })
    expect(received.map(({ link }) => link)).toEqual([undefined, undefined, undefined, 'https://example.com/a'])
    expect(received.map(({ media }) => media)).toEqual([[shown(pictures[0]!)], pictures.map(shown), [shown(film)], []])
    expect(received[0]!.target).toEqual({ kind: 'organization', id: at.account.places![0]!.externalId })
  })

  test('waits while LinkedIn processes a film, from where it was, and reports when that fails', async () => {
    await using at = await atTwin('LINKEDIN')
    const asked = at.asks({ copy: 'A film', media: [mediumOf('VIDEO', 80_000)] })
    await at.arm({ fault: 'processing', delayMs: 60_000 })
    const waiting = await at.network.prepare!(asked, null)
    expect(waiting).toMatchObject({ outcome: 'processing', againInMs: 3_000 })
    if (waiting.outcome !== 'processing') return
    const { asked: _, ...left } = waiting.handle
    expect(await at.network.prepare!(asked, waiting.handle)).toMatchObject({ outcome: 'processing', handle: left, againInMs: 6_000 })
    expect(await at.network.prepare!(asked, { ...left, asked: 50 })).toMatchObject({ outcome: 'processing', againInMs: 30_000 })
    await at.world.clock.advance(60_000)
    expect(await at.network.prepare!(asked, waiting.handle)).toEqual({ outcome: 'ready', handle: left })
    await at.arm({ fault: 'processing-error' })
    expect(await at.network.prepare!(asked, null)).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
  })

  test.each([
    [401, { outcome: 'refused', code: 'ACCESS_EXPIRED' }],
    [403, { outcome: 'refused', code: 'NETWORK_REFUSED' }],
    [400, { outcome: 'refused', code: 'MEDIA_FAILED' }],
    [429, { outcome: 'refused', code: 'RATE_LIMITED' }],
    [503, { outcome: 'unsent' }],
  ])('whose picture is answered %i: %o', async (status, end) => {
    await using at = await atTwin('LINKEDIN')
    await at.arm({ fault: 'media-status', status })
    expect(await at.network.prepare!(at.asks({ copy: 'a', media: [mediumOf('IMAGE')] }), null)).toMatchObject(end)
  })

  test('uploads a picture once more when another server answered 200', async () => {
    await using at = await atTwin('LINKEDIN')
    const asked = at.asks({ copy: 'a', media: [mediumOf('IMAGE')] })
    const begun = await send(`${at.world.sandbox.origin}/linkedin/rest/images?action=initializeUpload`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.accessToken}`,
        'content-type': 'application/json',
        'linkedin-version': '202610',
        'x-restli-protocol-version': '2.0.0',
      },
      body: JSON.stringify({ initializeUploadRequest: { owner: `urn:li:person:${at.account.externalId}` } }),
    })
    let told = await at.network.prepare!(asked, { kind: 'images', urns: [begun.body.value.image] })
    const pauses: number[] = []
    while (told.outcome === 'processing' && pauses.length < 9) {
      pauses.push(told.againInMs)
      told = await at.network.prepare!(asked, told.handle)
    }
    expect([told.outcome, pauses]).toEqual(['ready', [1_000, 2_000]])
    expect(told).not.toMatchObject({ handle: { urns: [begun.body.value.image] } })
  })

  test('is not sent when its video is shorter than announced', async () => {
    await using at = await atTwin('LINKEDIN')
    const film = { ...mediumOf('VIDEO', 3_000), bytes: 4_000 }
    expect(await at.network.prepare!(at.asks({ copy: 'a', media: [film] }), null)).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
  })

  test('is rejected as a duplicate, in an outdated version, and for an organization of somebody else', async () => {
    await using at = await atTwin('LINKEDIN_PAGE')
    await publish(at, { copy: 'Again' })
    expect((await publish(at, { copy: 'Again' })).delivery).toMatchObject({ outcome: 'refused', code: 'DUPLICATE_CONTENT' })
    const target = { kind: 'ORGANIZATION', externalId: '999', name: null } as const
    expect((await publish(at, { copy: 'Elsewhere', target })).delivery).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    expect(await at.network.publish(at.asks({ copy: 'Nowhere', target: null }))).toMatchObject({ outcome: 'refused', code: 'TARGET_UNAVAILABLE' })
    await using old = await atTwin('LINKEDIN', { version: '202409' })
    const { delivery } = await publish(old, { copy: 'a' })
    expect(delivery).toMatchObject({ outcome: 'refused', code: 'NETWORK_REFUSED', detail: expect.stringContaining('202409') })
  })
})

describe('P-08 P-10 a page of LinkedIn', () => {
  test('continues a thread in comments under its first post, and comments once more', async () => {
    await using at = await atTwin('LINKEDIN_PAGE')
    const idOf = async (copy: string, inReplyTo: string | null) => {
      const { delivery } = await publish(at, { copy, inReplyTo })
      if (delivery.outcome !== 'delivered') throw new Error(JSON.stringify(delivery))
      return delivery
    }
    const first = await idOf('First', null)
    const second = await idOf('Second (of two)', first.platformPostId)
    const third = await idOf('Third', second.platformPostId)
    expect(third.permalink).toBe(`https://www.linkedin.com/feed/update/${first.platformPostId}?commentUrn=${encodeURIComponent(third.platformPostId)}`)
    expect(at.network.permalink('', second.platformPostId)).toBe(second.permalink)
    const { accessToken, account } = at
    const comment = { accessToken, placeToken: null, account, target: at.asks({ copy: '' }).target, platformPostId: first.platformPostId, text: 'A *comment*' }
    expect(await at.network.comment!(comment)).toMatchObject({ outcome: 'delivered' })
    await at.arm({ fault: 'accept-then-reset' })
    expect(await at.network.comment!({ ...comment, text: 'In doubt' })).toMatchObject({ outcome: 'unknown' })
    expect((await at.received()).map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
      ['First', null],
      ['Second (of two)', first.platformPostId],
      ['Third', first.platformPostId],
      ['A *comment*', first.platformPostId],
      ['In doubt', first.platformPostId],
    ])
    const figures = await at.network.figures!(comment, [first.platformPostId, 'urn:li:share:1'])
    expect([...figures]).toEqual([[first.platformPostId, { impressions: 10, likes: 2, comments: 4, shares: 0, clicks: 1, videoViews: null }]])
    expect(await at.network.followers!(comment)).toBe(42)
  })

  test('is searched for an attempt’s post: by text, time, place and author', async () => {
    await using at = await atTwin('LINKEDIN_PAGE')
    const { asked, delivery } = await publish(at, { copy: 'Look for #me (here)' })
    const id = delivery.outcome === 'delivered' ? delivery.platformPostId : ''
    const now = at.world.clock.now()
    const none = new Set<string>()
    expect(await at.network.find(asked, now, none)).toMatchObject({ found: true, platformPostId: id })
    expect(await at.network.find(asked, new Date(now.getTime() + 60_000), none)).toEqual({ found: false, isAnothers: false })
    expect(await at.network.find(asked, now, new Set([id]))).toEqual({ found: false, isAnothers: true })
    expect(await at.network.find({ ...asked, target: { ...asked.target!, externalId: at.account.places![1]!.externalId } }, now, none)).toEqual({
      found: false,
      isAnothers: false,
    })
    const reply = await publish(at, { copy: 'Under it', inReplyTo: id, link: 'https://example.com/a' })
    expect((await at.received()).at(-1)).toMatchObject({ text: 'Under it\n\nhttps://example.com/a', inReplyToId: id })
    expect(await at.network.find(reply.asked, now, none)).toMatchObject({
      found: true,
      platformPostId: reply.delivery.outcome === 'delivered' && reply.delivery.platformPostId,
    })
    expect(await at.network.find({ ...reply.asked, inReplyTo: null }, now, none)).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'listing-lag', delayMs: 60_000 })
    expect(await at.network.find(asked, now, none)).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'expired-token' })
    await expect(at.network.find(asked, now, none)).rejects.toBeInstanceOf(AccessExpired)
  })

  test('is searched to the last page of comments, which are unordered; posts only to the first earlier one', async () => {
    const since = new Date('2027-03-01T09:00:00.000Z')
    const early = since.getTime() - 60_000
    const asked: string[] = []
    /** A first page of a hundred that are earlier, and a second one with what is looked for. */
    const paged = (one: (id: number, at: number, text: string) => object) => ({
      read: async (_token: string, path: string) => {
        asked.push(path)
        const elements = path.includes('start=0') ? Array.from({ length: 100 }, (_, id) => one(id, early, 'Earlier')) : [one(100, since.getTime(), 'Mine')]
        return { elements }
      },
    })
    const actor = 'urn:li:organization:1'
    const comments = paged((id, time, text) => ({ id: String(id), actor, message: { text }, created: { time } })) as unknown as Calls
    const posts = paged((id, publishedAt, commentary) => ({ id: `urn:li:share:${id}`, publishedAt, commentary })) as unknown as Calls
    const find = (calls: Calls, inReplyTo: string | null) =>
      findListed(calls, actor, publication({ accessToken: 't', account: { externalId: '1', name: 'Demo' }, copy: 'Mine', inReplyTo }), since, new Set())
    expect(await find(comments, 'urn:li:share:7')).toMatchObject({ found: true, platformPostId: 'urn:li:comment:(urn:li:share:7,100)' })
    expect([asked.length, await find(posts, null), asked.length]).toEqual([2, { found: false, isAnothers: false }, 3])
  })

  test('is searched for organizations only, never for persons', async () => {
    await using at = await atTwin('LINKEDIN')
    await expect(at.network.find(at.asks({ copy: 'a' }), at.world.clock.now(), new Set())).rejects.toThrow('does not list')
  })
})

test('every text reads the same at LinkedIn, and in its lists', () => {
  const alphabet = [...'\\|{}@[]()<>#*_~ab1é日👍 \n&|hashtag']
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  for (let round = 0; round < 2_000; round += 1) {
    const text = Array.from({ length: random(30) }, () => alphabet[random(alphabet.length)]).join('')
    expect([readLittleText(toCommentary(text)), fromCommentary(toCommentary(text))]).toEqual([text, text])
  }
})
