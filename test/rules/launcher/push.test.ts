import { describe, expect, it } from 'vitest'
import { isVapidKey, newVapidKey, publicOf } from '../../../subgraphs/launcher/engines/notify/push/key.ts'
import { afterAnswer, payloadOf, ttlSeconds, urgencyOf } from '../../../subgraphs/launcher/engines/notify/push/rules.ts'
import { hashOf, readSubscription } from '../../../subgraphs/launcher/notification/push/rules.ts'

const now = new Date('2026-03-02T09:00:00Z')
const message = { attempts: 1, createdAt: now }
const outcomeOf = (status: number | null, more: { attempts?: number; retryAfter?: string; createdAt?: Date } = {}) => {
  const { isGone, next } = afterAnswer({ status, retryAfter: more.retryAfter ?? null }, { ...message, ...more }, now)
  return isGone ? 'gone' : next === null ? 'over' : (next.getTime() - now.getTime()) / 1_000
}

describe('afterAnswer', () => {
  it.each([
    [201, 'over'],
    [404, 'gone'],
    [410, 'gone'],
    [400, 'over'],
    [403, 'over'],
    [413, 'over'],
    [429, 10],
    [500, 10],
    [503, 10],
    [null, 10],
  ])('concludes an answer with status %s', (status, outcome) => expect(outcomeOf(status)).toBe(outcome))

  it('waits longer after each attempt, and as long as the service asks', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(attempts => outcomeOf(503, { attempts }))).toEqual([10, 60, 300, 1_800, 7_200, 21_600, 'over'])
    expect(outcomeOf(429, { retryAfter: '120' })).toBe(120)
    expect(outcomeOf(429, { retryAfter: 'Mon, 02 Mar 2026 09:05:00 GMT' })).toBe(300)
    for (const retryAfter of ['soon', '-5', '1']) expect(outcomeOf(429, { retryAfter })).toBe(10)
  })

  it('gives up what is worth nothing any more', () => {
    expect(outcomeOf(503, { createdAt: new Date('2026-03-01T09:00:05Z') })).toBe('over')
    expect(outcomeOf(429, { retryAfter: '90000' })).toBe('over')
  })
})

describe('a push message', () => {
  const said = { id: 'm', itemId: null, notificationId: null, kind: 'order.paid', title: 'Paid', url: null }

  it('names the item or the notification, and leads to the dashboard by itself', () => {
    expect(JSON.parse(payloadOf(said, 'https://d.test'))).toEqual({ id: 'm', kind: 'order.paid', title: 'Paid', url: 'https://d.test' })
    expect(JSON.parse(payloadOf({ ...said, notificationId: 'n' }, 'https://d.test')).id).toBe('n')
    expect(JSON.parse(payloadOf({ ...said, itemId: 'i', url: 'https://a.test/1' }, 'https://d.test'))).toMatchObject({ id: 'i', url: 'https://a.test/1' })
  })

  it('fits into one record whatever it says', () => {
    for (const url of [null, `https://a.test/${'x'.repeat(1_900)}`])
      expect(Buffer.byteLength(payloadOf({ ...said, title: '\u{1f9ed}'.repeat(300), url }, 'https://d.test'))).toBeLessThan(3_000)
  })

  it('is kept for a day from its cause, and is urgent when it is HIGH', () => {
    expect(ttlSeconds({ createdAt: now }, new Date('2026-03-02T10:00:00Z'))).toBe(23 * 3600)
    expect(ttlSeconds({ createdAt: now }, new Date('2026-03-04T10:00:00Z'))).toBe(0)
    expect((['CRITICAL', 'HIGH', 'NORMAL', 'LOW'] as const).map(severity => urgencyOf({ severity }))).toEqual(['high', 'high', 'normal', 'low'])
  })
})

describe('keys', () => {
  it('are made and recognized', () => {
    const keys = Array.from({ length: 50 }, newVapidKey)
    expect(keys.every(isVapidKey)).toBe(true)
    expect(publicOf(keys[0]!)).toHaveLength(65)
    for (const wrong of [
      '',
      'x',
      Buffer.alloc(32).toString('base64url'),
      Buffer.alloc(33, 1).toString('base64url'),
      Buffer.alloc(32, 255).toString('base64url'),
    ])
      expect(isVapidKey(wrong), wrong).toBe(false)
  })
})

describe('readSubscription', () => {
  const p256dh = publicOf(newVapidKey()).toString('base64url')
  const auth = Buffer.alloc(16, 7).toString('base64url')
  const given = { endpoint: 'https://push.example/send/1', p256dh, auth }
  const wrong = (more: object, isDevelopment = false) => {
    try {
      readSubscription({ ...given, ...more }, isDevelopment)
    } catch (error) {
      return (error as { extensions: { field: string } }).extensions.field
    }
    return null
  }

  it('takes what browsers give, also with padding', () => {
    expect(readSubscription(given, false)).toEqual(given)
    expect(readSubscription({ ...given, auth: Buffer.alloc(16, 7).toString('base64') }, false)).toEqual(given)
    expect(wrong({ endpoint: 'http://localhost:4001/push/1' }, true)).toBeNull()
  })

  it.each([
    ['endpoint', { endpoint: 'http://push.example/1' }],
    ['endpoint', { endpoint: 'http://localhost:4001/push/1' }],
    ['endpoint', { endpoint: 'https://user:secret@push.example/1' }],
    ['endpoint', { endpoint: `https://push.example/${'x'.repeat(2_000)}` }],
    ['endpoint', { endpoint: 'push' }],
    ['p256dh', { p256dh: auth }],
    ['p256dh', { p256dh: Buffer.alloc(65, 4).toString('base64url') }],
    ['p256dh', { p256dh: '' }],
    ['auth', { auth: p256dh }],
    ['auth', { auth: 'a b' }],
  ])('refuses a wrong %s', (field, more) => expect(wrong(more)).toBe(field))

  it('identifies a browser by its endpoint and its keys', () => {
    expect(hashOf(given)).toBe(hashOf({ ...given }))
    for (const more of [{ endpoint: 'https://push.example/send/2' }, { p256dh: 'x' }, { auth: 'y' }])
      expect(hashOf({ ...given, ...more })).not.toBe(hashOf(given))
  })
})
