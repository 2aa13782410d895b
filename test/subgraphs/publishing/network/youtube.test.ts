import { describe, expect, test } from 'vitest'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { OutboundAnswer } from '../../../../platform/outbound/outbound.ts'
import { problemsOf } from '../../../../subgraphs/publishing/network/content/check.ts'
import { AccessExpired, type Gateway, GrantFailure } from '../../../../subgraphs/publishing/network/network.ts'
import { open } from '../../../../subgraphs/publishing/network/youtube/adapter.ts'
import { createCalls } from '../../../../subgraphs/publishing/network/youtube/calls.ts'
import { createSessions, lastOf } from '../../../../subgraphs/publishing/network/youtube/session.ts'
import { tagsWithin } from '../../../../subgraphs/publishing/network/youtube/tags.ts'
import { youtube } from '../../../../subgraphs/publishing/network/youtube/youtube.ts'
import { callback, send } from '../../../sandbox/stage.ts'
import { type AtTwin, atTwin, mediumOf, publish } from './twin.ts'

const none = new Set<string>()
const unit = 256 * 1024

async function consent({ network }: AtTwin, change: (url: URL) => void = () => {}) {
  const { url, verifier } = await network.authorize({ redirectUri: callback, state: 'a-state' })
  const asked = new URL(url)
  change(asked)
  asked.searchParams.set('sandbox_approve', '1')
  const back = new URL((await send(asked.href)).headers.get('location')!)
  return {
    asked: asked.searchParams,
    back,
    exchange: () => network.exchange({ parameters: back.searchParams, redirectUri: callback, state: 'a-state', verifier }),
  }
}

describe('P-14 connecting YouTube', () => {
  test('requests offline access with consent, keeps its refresh token on renewal, and revokes all of it at Google', async () => {
    await using at = await atTwin('YOUTUBE')
    const { asked, exchange } = await consent(at)
    expect(asked.get('scope')).toBe('https://www.googleapis.com/auth/youtube.upload https://www.googleapis.com/auth/youtube.readonly')
    expect([asked.get('access_type'), asked.get('prompt'), asked.get('code_challenge')]).toEqual(['offline', 'consent', null])
    const grant = await exchange()
    expect(grant).toMatchObject({ expiresIn: 3_600, refreshToken: expect.stringMatching(/^1\/\//) })
    expect(await at.network.account(grant.accessToken)).toEqual({
      externalId: at.account.externalId,
      name: '@demo_brand',
      avatarUrl: expect.stringMatching(/^https:/),
    })
    const renewed = await at.network.refresh(grant)
    expect([renewed.refreshToken, renewed.accessToken === grant.accessToken]).toEqual([null, false])
    const again = await at.network.refresh(grant)
    await at.network.revoke!({ accessToken: again.accessToken, refreshToken: grant.refreshToken })
    await expect(at.network.account(again.accessToken)).rejects.toMatchObject({ permanent: true })
    await expect(at.network.refresh(grant)).rejects.toMatchObject({ permanent: true })
  })

  test('accepts no grant without a requested scope, and no refresh token where none was requested', async () => {
    await using at = await atTwin('YOUTUBE')
    const half = await consent(at, url => url.searchParams.set('scope', 'https://www.googleapis.com/auth/youtube.readonly'))
    await expect(half.exchange()).rejects.toMatchObject({ permanent: true, message: expect.stringContaining('every permission') })
    const online = await consent(at, url => url.searchParams.delete('access_type'))
    expect((await online.exchange()).refreshToken).toBeNull()
  })

  test('distinguishes a rejected access from a temporary failure', async () => {
    await using at = await atTwin('YOUTUBE')
    await at.arm({ fault: 'profile-status', status: 503 })
    await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: false })
    await at.arm({ fault: 'grant-revoked' })
    await expect(at.network.account(at.accessToken)).rejects.toBeInstanceOf(GrantFailure)
    await expect(at.network.refresh({ accessToken: at.accessToken, refreshToken: at.refreshToken })).rejects.toMatchObject({ permanent: true })
  })
})

test('P-11 content that YouTube would reject is reported before: no title, two videos, brackets, too much text', () => {
  const film = { kind: 'VIDEO' as const, durationMs: 1, isReady: true, altText: 'A cat' }
  const post = { copy: 'a', link: null, tags: [], title: 'A cat', firstComment: null, media: [film], isLater: false }
  const codes = (more: object) => problemsOf(youtube, { ...post, ...more }).map(({ code }) => code)
  expect(codes({})).toEqual([])
  expect([codes({ title: null }), codes({ media: [film, film] }), codes({ copy: 'a > b' }), codes({ copy: 'é'.repeat(2_501) })]).toEqual([
    ['TITLE_MISSING'],
    ['MEDIA_TOO_MANY'],
    ['COPY_INVALID'],
    ['COPY_TOO_LONG'],
  ])
  expect(codes({ firstComment: 'more' })).toEqual(['FIRST_COMMENT_UNSUPPORTED'])
  expect(tagsWithin(['a b', 'c<d', ...Array.from({ length: 20 }, (_, at) => `${at}`.padStart(49, 't'))])).toHaveLength(10)
})

test('the part of a video that is held back is its last 256 KiB at most, wherever YouTube has received it to', () => {
  expect([1, unit, unit + 1, 10 * unit].map(bytes => lastOf(bytes, 0))).toEqual([0, 0, unit, 9 * unit])
  expect(lastOf(10 * unit, 100)).toBe(9 * unit + 100)
})

describe('P-10 a video on YouTube', () => {
  test('continues after a part of which YouTube stored less than was sent, with the same video as result', async () => {
    const film = mediumOf('VIDEO', 2 * unit + 1_000)
    const whole = Buffer.from(await new Response(await film.open()).arrayBuffer())
    let has = Buffer.alloc(0)
    const gateway: Gateway = async (_path, _organization, { headers = {}, body } = {}) => {
      const [, from] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? []
      // Of the first part it keeps the first half.
      if (from !== undefined) has = Buffer.concat([has, Buffer.from(body as Uint8Array).subarray(0, unit)])
      return { status: 308, headers: new Headers({ range: `bytes=0-${has.length - 1}` }), text: '' }
    }
    let tail = new Uint8Array()
    const keep = (last: Uint8Array) => {
      tail = Uint8Array.from(last)
    }
    const session = { query: 'upload_id=1', bytes: film.bytes, last: null }
    expect(await createSessions(createCalls(gateway)).fill({ accessToken: 't' }, session, film, 0, keep)).toEqual({ ...session, last: 2 * unit })
    expect(Buffer.concat([has, tail]).equals(whole)).toBe(true)
  })

  test('is not published before its last part, then once, complete and private, with its description', async () => {
    await using at = await atTwin('YOUTUBE')
    const film = mediumOf('VIDEO', 9 * 1024 * 1024 + 17)
    const asked = at.asks({ copy: 'All about it #cat', title: 'The cat', media: [film], link: 'https://example.com/a', tags: ['cats'] })
    const prepared = await at.network.prepare!(asked, null)
    if (prepared.outcome !== 'ready') throw new Error(JSON.stringify(prepared))
    expect(JSON.stringify(prepared.handle)).not.toContain(at.accessToken)
    expect(await at.received()).toEqual([])
    const whole = { ...asked, handle: prepared.handle }
    expect(await at.network.find(whole, at.world.clock.now(), none)).toEqual({ found: false, isAnothers: false })
    const delivery = await at.network.publish(whole)
    const [received] = await at.received()
    const { mimeType, bytes, sha256 } = film
    expect(received).toMatchObject({
      ...{ text: 'All about it #cat\n\nhttps://example.com/a', title: 'The cat', privacyStatus: 'private', tags: ['cats'] },
      media: [{ mimeType, bytes, sha256 }],
    })
    const { id } = received!
    expect(delivery).toEqual({ outcome: 'delivered', platformPostId: id, permalink: `https://www.youtube.com/watch?v=${id}` })
    expect(await at.network.find(whole, at.world.clock.now(), none)).toMatchObject({ found: true, platformPostId: id })
    // The upload has its film, whoever sends the last part once more.
    expect(await at.network.publish(whole)).toEqual(delivery)
    expect(await at.received()).toHaveLength(1)
  })

  test('that was received without an answer is found by its upload, and one that was not received is not', async () => {
    await using at = await atTwin('YOUTUBE')
    const attempt = async (fault: { readonly fault: string; readonly status?: number }) => {
      const asked = at.asks({ copy: `A film ${fault.fault}`, media: [mediumOf('VIDEO')] })
      const prepared = await at.network.prepare!(asked, null)
      if (prepared.outcome !== 'ready') throw new Error(JSON.stringify(prepared))
      await at.arm(fault)
      const whole = { ...asked, handle: prepared.handle }
      expect(await at.network.publish(whole)).toMatchObject({ outcome: 'unknown' })
      return whole
    }
    const taken = await attempt({ fault: 'accept-then-reset' })
    expect(await at.network.find(taken, at.world.clock.now(), none)).toMatchObject({ found: true })
    const lost = await attempt({ fault: 'status', status: 503 })
    expect(await at.network.find(lost, at.world.clock.now(), none)).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'expired-token' })
    await expect(at.network.find(lost, at.world.clock.now(), none)).rejects.toBeInstanceOf(AccessExpired)
    const gone = { ...lost, handle: { ...lost.handle, query: 'uploadType=resumable&part=id&upload_id=gone' } }
    await expect(at.network.find(gone, at.world.clock.now(), none)).rejects.toThrow('does not say')
  })

  test('continues where it was cut, later too, with the same video as result', async () => {
    await using at = await atTwin('YOUTUBE')
    const film = mediumOf('VIDEO', 17 * 1024 * 1024)
    const asked = at.asks({ copy: 'Cut', media: [film] })
    await at.arm({ fault: 'accept-then-reset', times: 1, account: 'nobody' })
    // The first part of several meets it: the session has begun by then.
    const first = await interrupted(at, asked, { fault: 'media-status', status: 503, times: 100 })
    expect(first).toMatchObject({ outcome: 'processing', againInMs: expect.any(Number) })
    if (first.outcome !== 'processing') throw new Error('never')
    await at.arm({ fault: 'none' })
    await at.arm({ fault: 'media-status', status: 500, times: 1 })
    const second = await at.network.prepare!(asked, first.handle)
    if (second.outcome !== 'ready') throw new Error(JSON.stringify(second))
    expect(await at.network.publish({ ...asked, handle: second.handle })).toMatchObject({ outcome: 'delivered' })
    expect(await at.received()).toMatchObject([{ media: [{ bytes: film.bytes, sha256: film.sha256 }] }])
  })

  test('starts over when its upload has expired, and one that cannot be processed is no video', async () => {
    await using at = await atTwin('YOUTUBE')
    const asked = at.asks({ copy: 'Anew', media: [mediumOf('VIDEO')] })
    const over = { query: 'uploadType=resumable&part=snippet,status&upload_id=over', bytes: 2_000, last: null }
    expect(await at.network.prepare!(asked, over)).toMatchObject({ outcome: 'ready', handle: { query: expect.not.stringContaining('=over') } })
    await at.arm({ fault: 'processing-error' })
    const { asked: broken, delivery } = await publish(at, { copy: 'Broken', media: [mediumOf('VIDEO')] })
    expect(delivery).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED', detail: expect.stringContaining('codec') })
    expect(await at.network.find(broken, at.world.clock.now(), none)).toEqual({ found: false, isAnothers: false })
    await at.arm({ fault: 'processing', delayMs: 60_000 })
    expect((await publish(at, { copy: 'Slow', media: [mediumOf('VIDEO')] })).delivery).toMatchObject({ outcome: 'delivered' })
    expect((await at.received()).map(({ text }) => text)).toEqual(['Slow'])
  })

  test('is rejected before anything is sent: without a video, with an invalid title, or by YouTube', async () => {
    await using at = await atTwin('YOUTUBE')
    const prepare = (more: object = {}) => at.network.prepare!(at.asks({ copy: 'a', media: [mediumOf('VIDEO')], ...more }), null)
    expect(await prepare({ media: [] })).toMatchObject({ outcome: 'refused', code: 'CONTENT_REFUSED' })
    expect(await prepare({ title: 'a < b' })).toMatchObject({
      outcome: 'refused',
      code: 'CONTENT_REFUSED',
      detail: expect.stringContaining('invalidTitle'),
    })
    expect(await prepare({ copy: 'a'.repeat(4_990), link: 'https://example.com/' })).toMatchObject({ outcome: 'refused', code: 'CONTENT_REFUSED' })
    await at.arm({ fault: 'media-status', status: 429 })
    expect(await prepare()).toMatchObject({ outcome: 'refused', code: 'RATE_LIMITED' })
    await at.arm({ fault: 'media-status', status: 503 })
    expect(await prepare()).toMatchObject({ outcome: 'unsent' })
    await at.arm({ fault: 'expired-token' })
    expect(await prepare()).toMatchObject({ outcome: 'refused', code: 'ACCESS_EXPIRED' })
  })

  test('has figures: views, likes and comments, and the channel’s followers', async () => {
    await using at = await atTwin('YOUTUBE')
    const { delivery } = await publish(at, { copy: 'Counted', media: [mediumOf('VIDEO')] })
    const id = delivery.outcome === 'delivered' ? delivery.platformPostId : ''
    const from = { accessToken: at.accessToken, placeToken: null, account: at.account, target: null }
    const figures = { impressions: null, likes: 0, comments: 0, shares: null, clicks: null, videoViews: 0 }
    expect(await at.network.figures!(from, [id, 'not-there-00'])).toEqual(new Map([[id, figures]]))
    expect(await at.network.followers!(from)).toBe(0)
    await at.arm({ fault: 'expired-token' })
    await expect(at.network.figures!(from, [id])).rejects.toBeInstanceOf(AccessExpired)
  })
})

/** Prepares, and arms a fault once the upload has begun. */
async function interrupted(at: AtTwin, asked: ReturnType<AtTwin['asks']>, fault: Parameters<AtTwin['arm']>[0]) {
  const [film] = asked.media
  const opened = async () => {
    await at.arm(fault)
    return film!.open()
  }
  return at.network.prepare!({ ...asked, media: [{ ...film!, open: opened }] }, null)
}

describe('P-10 an answer of the gateway itself', () => {
  const application = { clientId: 'a', clientSecret: 'b', authorizeUrl: 'https://google.test/auth', tokenUrl: 'https://google.test/token' }
  const unused = Object.assign(() => Promise.reject(new Error('nobody is asked')), { stream: () => Promise.reject(new Error('nobody is asked')) })
  const problem = (status: number, body: object): OutboundAnswer => ({
    ...{ status, text: JSON.stringify(body) },
    headers: new Headers({ 'content-type': 'application/problem+json' }),
  })
  const asked = {
    ...{ organizationId: 'one', accessToken: 'token', placeToken: null, account: { externalId: 'UC', name: '@a' } },
    ...{ copy: 'a', title: 'b', link: null, visibility: null, tags: [], target: null, media: [mediumOf('VIDEO')], inReplyTo: null },
  }
  const resetsAt = '2026-11-24T08:00:00.000Z'
  const rows = [
    [
      'a spend limit that is reached',
      problem(402, { code: 'BUDGET_EXCEEDED', detail: 'no money' }),
      { outcome: 'refused', code: 'BUDGET_EXCEEDED', detail: 'no money' },
    ],
    [
      'a quota that is used up until midnight in California',
      problem(429, { code: 'RATE_LIMITED', reason: 'QUOTA_EXHAUSTED', resetsAt }),
      { outcome: 'refused', code: 'RATE_LIMITED', limit: { remaining: 0, resetsAt: new Date(resetsAt) } },
    ],
    ['too many calls', problem(429, { code: 'RATE_LIMITED' }), { outcome: 'unsent' }],
    ['a token that is not publishing’s', problem(401, { code: 'UNAUTHENTICATED' }), { outcome: 'unsent' }],
    ['a client without VIDEO', problem(403, { code: 'FORBIDDEN', detail: 'may not' }), { outcome: 'unsent', detail: 'may not' }],
    ['that YouTube surely heard nothing', problem(502, { code: 'UPSTREAM_FAILED', outcome: 'not_sent' }), { outcome: 'unsent' }],
  ] as const

  test.each(rows)('with %s has the same meaning for preparing and for the publishing call, and never means expired access', async (_, answer, expected) => {
    const said: string[] = []
    const gateway: Gateway = async (path, organizationId) => {
      said.push(`${organizationId} ${path.split('?')[0]}`)
      return answer
    }
    const network = open(application, unused, gateway)
    expect(await network.prepare!(asked, null)).toMatchObject(expected)
    expect(said).toEqual(['one /platform/youtube/upload/youtube/v3/videos'])
    await expect(network.account('token', 'one')).rejects.toMatchObject({ permanent: false })
  })

  test.each([
    ['that YouTube did not answer', async () => problem(502, { code: 'UPSTREAM_FAILED', outcome: 'unknown' }), 'unknown'],
    ['nothing in time', () => Promise.reject(new OutboundFailure('late', true)), 'unknown'],
    ['nothing, for it is away', () => Promise.reject(new OutboundFailure('away', false)), 'unsent'],
  ] as const)('of the last part is %s', async (_, says, outcome) => {
    await using at = await atTwin('YOUTUBE')
    const prepared = await at.network.prepare!(at.asks({ copy: 'a', media: [mediumOf('VIDEO')] }), null)
    if (prepared.outcome !== 'ready') throw new Error('never')
    let calls = 0
    const gateway: Gateway = async () => {
      calls += 1
      if (calls > 1) return says()
      return { status: 200, text: '', headers: new Headers({ location: 'https://us.test/upload/youtube/v3/videos?uploadType=resumable&upload_id=1' }) }
    }
    const network = open(application, unused, gateway)
    const begun = await network.prepare!(asked, null)
    if (begun.outcome !== 'ready') throw new Error(JSON.stringify(begun))
    expect(await network.publish({ ...asked, handle: begun.handle })).toMatchObject({ outcome })
  })
})
