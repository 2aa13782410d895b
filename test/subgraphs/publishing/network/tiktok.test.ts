import { describe, expect, test } from 'vitest'
import { AccessExpired } from '../../../../subgraphs/publishing/network/network.ts'
import { chunksOf } from '../../../../subgraphs/publishing/network/tiktok/publish.ts'
import { callback, send } from '../../../sandbox/stage.ts'
import { atTwin, mediumOf, publish } from './twin.ts'

const none = new Set<string>()

test('P-14 connecting TikTok: a client key, commas, a digest in hex, a day of access that rotates for a year', async () => {
  await using at = await atTwin('TIKTOK')
  const { url, verifier } = await at.network.authorize({ redirectUri: callback, state: 'a-state' })
  const asked = new URL(url).searchParams
  expect([asked.get('scope'), asked.get('code_challenge')]).toEqual(['user.info.basic,video.upload,video.publish', expect.stringMatching(/^[0-9a-f]{64}$/)])
  expect([...asked.keys()]).not.toContain('client_id')
  const back = new URL((await send(`${url}&sandbox_approve=1`)).headers.get('location')!)
  const grant = await at.network.exchange({ parameters: back.searchParams, redirectUri: callback, state: 'a-state', verifier })
  expect(grant).toMatchObject({ expiresIn: 86_400, reconnectIn: 31_536_000, refreshToken: expect.any(String) })
  expect(await at.network.account(grant.accessToken)).toEqual({ externalId: at.account.externalId, name: '@demo_brand', avatarUrl: expect.any(String) })
  const renewed = await at.network.refresh(grant)
  expect(renewed.refreshToken).not.toBe(grant.refreshToken)
  await expect(at.network.refresh(grant)).rejects.toMatchObject({ permanent: true })
  await at.network.revoke!({ accessToken: at.accessToken, refreshToken: null })
  await expect(at.network.account(at.accessToken)).rejects.toMatchObject({ permanent: true })
})

test('a video is sent in chunks of 8 MiB, the last of which has the rest', () => {
  const unit = 8 * 1024 * 1024
  expect([1, 5_000_000, unit, 2 * unit - 1, 2 * unit, 3 * unit + 5].map(chunksOf)).toEqual([
    [1],
    [5_000_000],
    [unit],
    [2 * unit - 1],
    [unit, unit],
    [unit, unit, unit + 5],
  ])
})

describe('P-10 a video on TikTok', () => {
  test('is not published before its last part, then once, complete, visible to the account only while TikTok has not reviewed the application', async () => {
    await using at = await atTwin('TIKTOK')
    const film = mediumOf('VIDEO', 20_000_000)
    const asked = at.asks({ copy: 'A film #cat', media: [film], link: 'https://example.com/a' })
    const prepared = await at.network.prepare!(asked, null)
    if (prepared.outcome !== 'ready') throw new Error(JSON.stringify(prepared))
    expect(await at.received()).toEqual([])
    const whole = { ...asked, handle: prepared.handle }
    expect(await at.network.find(whole, at.world.clock.now(), none)).toEqual({ found: false, isAnothers: false })
    const delivery = await at.network.publish(whole)
    const [received] = await at.received()
    const { mimeType, bytes, sha256 } = film
    expect(received).toMatchObject({ text: 'A film #cat\n\nhttps://example.com/a', privacyStatus: 'private', media: [{ mimeType, bytes, sha256 }] })
    expect(delivery).toEqual({ outcome: 'delivered', platformPostId: received!.id, permalink: 'https://www.tiktok.com/@demo_brand' })
    expect(await at.network.find(whole, at.world.clock.now(), none)).toMatchObject({ found: true, platformPostId: received!.id })
    expect(await at.network.publish(whole)).toMatchObject({ outcome: 'refused' })
    expect(await at.received()).toHaveLength(1)
  })

  test('that was received without an answer is found by its upload id, and one that was not received is not', async () => {
    await using at = await atTwin('TIKTOK')
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
  })

  test('that TikTok still processes is neither published nor missing', async () => {
    await using at = await atTwin('TIKTOK')
    await at.arm({ fault: 'grant-revoked', account: 'nobody' })
    const asked = at.asks({ copy: 'Slow', media: [mediumOf('VIDEO')] })
    const prepared = await at.network.prepare!(asked, null)
    if (prepared.outcome !== 'ready') throw new Error(JSON.stringify(prepared))
    const whole = { ...asked, handle: prepared.handle }
    await at.arm({ fault: 'accept-then-reset' })
    await at.network.publish(whole)
    await at.arm({ fault: 'listing-lag', delayMs: 1 })
    await expect(at.network.find(whole, at.world.clock.now(), none)).rejects.toThrow('still works')
    await at.arm({ fault: 'processing-error' })
    expect((await publish(at, { copy: 'Broken', media: [mediumOf('VIDEO')] })).delivery).toMatchObject({
      outcome: 'refused',
      code: 'MEDIA_FAILED',
      detail: expect.stringContaining('file_format_check_failed'),
    })
  })

  test('is refused before anything is sent of it: too long, no film, or by TikTok', async () => {
    await using at = await atTwin('TIKTOK')
    const prepare = (media: Parameters<typeof at.asks>[0]['media']) => at.network.prepare!(at.asks({ copy: 'a', media: media! }), null)
    expect(await prepare([{ ...mediumOf('VIDEO'), durationMs: 601_000 }])).toMatchObject({ outcome: 'refused', code: 'MEDIA_FAILED' })
    expect(await prepare([])).toMatchObject({ outcome: 'refused', code: 'CONTENT_REFUSED' })
    await at.arm({ fault: 'media-status', status: 429 })
    expect(await prepare([mediumOf('VIDEO')])).toEqual({ outcome: 'limited', limit: 6, forMs: 60_000 })
    await at.arm({ fault: 'media-status', status: 503 })
    expect(await prepare([mediumOf('VIDEO')])).toMatchObject({ outcome: 'unsent' })
    await at.arm({ fault: 'expired-token' })
    expect(await prepare([mediumOf('VIDEO')])).toMatchObject({ outcome: 'refused', code: 'ACCESS_EXPIRED' })
  })

  test('for everyone is rejected from an application that TikTok has not reviewed', async () => {
    await using at = await atTwin('TIKTOK', { kind: '' })
    expect(await at.network.prepare!(at.asks({ copy: 'a', media: [mediumOf('VIDEO')] }), null)).toMatchObject({
      outcome: 'refused',
      code: 'NETWORK_REFUSED',
      detail: expect.stringContaining('unaudited'),
    })
  })
})
