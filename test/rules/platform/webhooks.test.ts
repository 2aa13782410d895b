import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import { readDescription, readEvents, readUrl, requireReach } from '../../../platform/outbound/webhooks/address.ts'
import { maxFormerSecrets, newSecret, requireRoomForFormer } from '../../../platform/outbound/webhooks/secrets.ts'
import { bodyOf, type Sending, send } from '../../../platform/outbound/webhooks/send.ts'
import { beginTry, conclude, isStillTried, pauses, type Tries } from '../../../platform/outbound/webhooks/tries.ts'
import { refusalOf } from '../refusal.ts'

const now = new Date('2027-03-01T09:00:00Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const pending: Tries = { status: 'PENDING', attempts: 0, nextAttemptAt: now }

describe('attempts of a webhook', () => {
  it('are ten over three days, after which the endpoint is given up', () => {
    const waits = Array.from({ length: 10 }, (_, at) => conclude({ attempts: at + 1 }, 500, now))
    expect(waits.slice(0, 9).map(({ delivery }) => delivery.nextAttemptAt!.getTime() - now.getTime())).toEqual(pauses.slice(1))
    expect(waits[9]).toMatchObject({ delivery: { status: 'FAILED', nextAttemptAt: null }, disabledReason: expect.stringContaining('500') })
    expect(conclude({ attempts: 1 }, null, now).delivery).toMatchObject({ responseStatus: null, nextAttemptAt: later(5_000) })
  })

  it('end with an answer of 2xx, and with 410', () => {
    expect(conclude({ attempts: 1 }, 204, now)).toEqual({
      delivery: { status: 'DELIVERED', responseStatus: 204, nextAttemptAt: null },
      disabledReason: null,
    })
    expect(conclude({ attempts: 1 }, 410, now)).toMatchObject({ delivery: { status: 'FAILED' }, disabledReason: expect.stringContaining('410') })
  })

  it('begin when they are due, and never after the last one', () => {
    expect(beginTry(pending, now)).toEqual({ attempts: 1, nextAttemptAt: later(30_000) })
    expect(beginTry({ ...pending, attempts: 10 }, now)).toMatchObject({ attempts: 10 })
    for (const over of [
      { ...pending, nextAttemptAt: later(1) },
      { ...pending, nextAttemptAt: null },
      { ...pending, status: 'FAILED' as const },
    ])
      expect(beginTry(over, now)).toBeNull()
  })

  it('belong to the worker that began them until another one takes the delivery up', () => {
    const begun = { ...pending, ...beginTry(pending, now)! }
    expect(isStillTried(begun, begun)).toBe(true)
    expect(isStillTried(begun, { ...begun, nextAttemptAt: later(60_000) })).toBe(false)
    expect(isStillTried(begun, { ...begun, status: 'DELIVERED' })).toBe(false)
  })
})

/** A way out that notes what is sent and answers so. */
function wayOf(answer: () => number, reaches = true) {
  const sent: { url: string; headers: Record<string, string>; body: string }[] = []
  const errors: unknown[] = []
  const outbound = async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
    sent.push({ url, headers, body })
    return { status: answer() }
  }
  const sending = { way: { outbound, reaches: async () => reaches }, log: { error: (facts: object) => void errors.push(facts) } } as unknown as Sending
  return { sent, errors, sending }
}

describe('send', () => {
  const body = bodyOf('order.paid', { id: 'o1' }, now)
  const message = (secrets: readonly string[]) => ({ id: 'm1', body, url: 'https://example.com/hook', secrets, organizationId: 'acme' })

  it('signs by each secret, so that a receiver with either of them accepts it', async () => {
    const { sent, sending } = wayOf(() => 204)
    const [present, former] = [newSecret(), newSecret()]
    expect(await send(sending, message([present, former]), now)).toBe(204)
    const [{ headers, url }] = sent as [(typeof sent)[number]]
    expect([url, headers['webhook-id'], headers['webhook-timestamp']]).toEqual(['https://example.com/hook', 'm1', String(now.getTime() / 1000)])
    for (const secret of [present, former]) expect(headers['webhook-signature']!.split(' ')).toContain(new Webhook(secret).sign('m1', now, body))
  })

  it('sends nothing to an address that may not be called', async () => {
    const { sent, sending } = wayOf(() => 204, false)
    expect(await send(sending, message([newSecret()]), now)).toBeNull()
    expect(sent).toEqual([])
  })

  it('returns null without an answer, and logs unexpected errors', async () => {
    const failing = (error: Error) =>
      wayOf(() => {
        throw error
      })
    const late = failing(new OutboundFailure('example.com took too long', true))
    const broken = failing(new Error('broken'))
    expect([await send(late.sending, message([newSecret()]), now), await send(broken.sending, message([newSecret()]), now)]).toEqual([null, null])
    expect([late.errors.length, broken.errors.length]).toEqual([0, 1])
    expect(await send(late.sending, message(['whsec_no secret']), now)).toBeNull()
  })
})

describe('a webhook address', () => {
  it('is an HTTP address, without a user and without a fragment', () => {
    expect(readUrl(' https://example.com/hook#here ')).toBe('https://example.com/hook')
    for (const wrong of ['ftp://example.com/', 'example.com', 'https://a:b@example.com/', `https://example.com/${'x'.repeat(2_000)}`])
      expect(refusalOf(() => readUrl(wrong)).extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'url' })
  })

  it('receives each event type once, in fixed order', () => {
    expect(readEvents(['b', 'a', 'b'], ['a', 'b', 'c'])).toEqual(['a', 'b'])
    for (const wrong of [[], ['d']]) expect(refusalOf(() => readEvents(wrong, ['a'])).extensions).toMatchObject({ field: 'events' })
    expect([readDescription('  '), readDescription(' Ours ')]).toEqual([null, 'Ours'])
  })

  it('is rejected when it must not be called', async () => {
    await requireReach({ reaches: async () => true }, 'https://example.com/')
    await expect(requireReach({ reaches: async () => false }, 'https://example.com/')).rejects.toMatchObject({ extensions: { field: 'url' } })
  })
})

describe('a rotation of a secret', () => {
  it('is refused while as many former secrets sign as may, until the first of them ends', () => {
    const ends = (count: number) => Array.from({ length: count }, (_, at) => later((count - at) * 60_000))
    requireRoomForFormer(ends(maxFormerSecrets - 2), now)
    expect(refusalOf(() => requireRoomForFormer(ends(maxFormerSecrets - 1), now)).extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
  })
})
