import { describe, expect, test } from 'vitest'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import type { Medium } from '../../../../subgraphs/publishing/network/publication.ts'
import { serveMedia } from './served.ts'
import { type AtTwin, atTwin, mediumOf, publish } from './twin.ts'

const served = serveMedia()

/** What every adapter makes of the same answers of its network; a network is a row. */
const rows: readonly Row[] = [
  { platform: 'X', media: [] },
  { platform: 'THREADS', media: [] },
  { platform: 'LINKEDIN', media: [mediumOf('IMAGE')] },
  { platform: 'LINKEDIN_PAGE', media: [] },
  // Its one call shows no token, and what it asks afterwards only tells what became of it.
  { platform: 'TIKTOK', media: [mediumOf('VIDEO')], otherwise: { 'expired-token': { outcome: 'unknown', arrives: true } } },
  { platform: 'FACEBOOK', media: [] },
  { platform: 'INSTAGRAM', media: [served('IMAGE')] },
  // Its 403 is a quota that is used up, and it takes no pointed brackets.
  {
    ...{ platform: 'YOUTUBE', media: [mediumOf('VIDEO')], without: /[<>]/g },
    otherwise: { 'status 403': { outcome: 'refused', code: 'RATE_LIMITED', arrives: false } },
  },
]

interface Row {
  readonly platform: Platform
  readonly media: readonly Medium[]
  /** What it takes no text with. @default there is nothing */
  readonly without?: RegExp
  /** What becomes of a fault here in place of what the table says, by its name, or by its name and status. */
  readonly otherwise?: Readonly<Record<string, { readonly outcome: string; readonly code?: string; readonly arrives: boolean }>>
}

const answers = [
  { fault: { fault: 'expired-token' }, outcome: 'refused', code: 'ACCESS_EXPIRED', arrives: false },
  { fault: { fault: 'status', status: 401 }, outcome: 'refused', code: 'ACCESS_EXPIRED', arrives: false },
  { fault: { fault: 'status', status: 403 }, outcome: 'refused', code: 'NETWORK_REFUSED', arrives: false },
  { fault: { fault: 'status', status: 429 }, outcome: 'refused', code: 'RATE_LIMITED', arrives: false },
  { fault: { fault: 'status', status: 500 }, outcome: 'unknown', arrives: false },
  { fault: { fault: 'status', status: 503 }, outcome: 'unknown', arrives: false },
  { fault: { fault: 'status-after-accept', status: 503 }, outcome: 'unknown', arrives: true },
  { fault: { fault: 'accept-then-reset' }, outcome: 'unknown', arrives: true },
  { fault: { fault: 'slow', delayMs: 50 }, outcome: 'delivered', arrives: true },
] as const

test.each([
  'X',
  'LINKEDIN',
  'LINKEDIN_PAGE',
  'TIKTOK',
  'YOUTUBE',
] as const)('P-12 a film whose bytes cannot be read now is tried again on %s; of one whose bytes are gone it is told', async platform => {
  await using at = await atTwin(platform)
  // Of two chunks at TikTok, which keeps the last one back.
  const film = mediumOf('VIDEO', 17_000_000)
  const prepared = async (open: Medium['open']) => {
    await at.world.clock.advance(60_000)
    return at.network.prepare!(at.asks({ copy: 'A film', media: [{ ...film, open }] }), null)
  }
  const away = new OutboundFailure('clip.mp4 could not be read', false)
  expect(await prepared(() => Promise.reject(away))).toEqual({ outcome: 'unsent', detail: away.message })
  const broken = () => new ReadableStream({ pull: controller => controller.error(new Error('EIO: i/o error, read /srv/storage')) })
  const cut = await prepared(async () => broken())
  expect([cut.outcome, JSON.stringify(cut)]).toEqual(['unsent', expect.not.stringContaining('/srv')])
  expect(await prepared(() => Promise.reject(new Error('The bytes of clip.mp4 are gone: upload it again.')))).toMatchObject({
    outcome: 'refused',
    code: 'MEDIA_FAILED',
    detail: expect.stringContaining('are gone'),
  })
  expect(await at.received()).toEqual([])
})

describe.each(rows)('P-14 P-10 $platform', ({ platform, media, otherwise = {}, without = /$^/ }) => {
  test('classifies answers: only a clear rejection is one, and a call that may have published is unknown', async () => {
    await using at = await atTwin(platform)
    const arrived: string[] = []
    for (const { fault, ...end } of answers) {
      // A network that counts what an account begins has its minute for each.
      await at.world.clock.advance(60_000)
      const { arrives, ...told } = otherwise[fault.fault] ?? otherwise[`${fault.fault} ${'status' in fault && fault.status}`] ?? end
      const copy = `${platform} ${JSON.stringify(fault)}`
      if (arrives) arrived.push(copy)
      const { delivery } = await armed(at, fault, copy, media)
      expect([fault, delivery]).toMatchObject([fault, told])
    }
    const received = await at.received()
    expect(received.map(({ text }) => text)).toEqual(arrived)
    expect(received.at(-1)!.media ?? []).toHaveLength(media.length)
  })

  test('transmits every character of a text, and links to the post', async () => {
    await using at = await atTwin(platform)
    const copy = 'All of it: \\ | { } @me [a](b) <c> #1 #tag *x* _y_ ~z~ "q" & 日本 👩‍👩‍👧 é\nhttps://example.com/a_b?c=(d)'.replace(without, '')
    const { delivery } = await publish(at, { copy, media })
    expect(delivery).toMatchObject({ outcome: 'delivered', permalink: expect.stringMatching(/^https:\/\//) })
    const [received] = await at.received()
    expect(received).toMatchObject({ text: copy, id: delivery.outcome === 'delivered' && delivery.platformPostId })
  })

  test('sends nothing when it cannot be reached', async () => {
    await using at = await atTwin(platform)
    const asked = at.asks({ copy: 'Nobody hears', media })
    const prepared = at.network.prepare ? await at.network.prepare(asked, null) : { outcome: 'ready' as const, handle: null }
    await at.world.sandbox.stop()
    expect(prepared.outcome).toBe('ready')
    const handle = prepared.outcome === 'ready' ? prepared.handle : null
    expect(await at.network.publish({ ...asked, handle })).toMatchObject({ outcome: 'unsent' })
    if (media.length > 0) expect(await at.network.prepare!(asked, null)).toMatchObject({ outcome: 'unsent' })
  })

  test('has no address for an invalid id', async () => {
    await using at = await atTwin(platform)
    for (const id of ['', 'https://evil.test', '../1', '<script>', '1 or 1=1']) expect(at.network.permalink('@a', id)).toBeNull()
  })
})

/** Publishes under a fault that the one call meets. */
async function armed(at: AtTwin, fault: { readonly fault: string }, copy: string, media: readonly Medium[]) {
  const asked = at.asks({ copy, media })
  const prepared = at.network.prepare ? await at.network.prepare(asked, null) : { outcome: 'ready' as const, handle: null }
  if (prepared.outcome !== 'ready') throw new Error(JSON.stringify(prepared))
  await at.arm(fault)
  return { delivery: await at.network.publish({ ...asked, handle: prepared.handle }) }
}
