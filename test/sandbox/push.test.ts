import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import webPush from 'web-push'
import { type Stage, send, stage } from './stage.ts'

// The official client signs by the time of the machine, so the clock of the sandbox is set to it.
const now = () => new Date().toISOString()

const browserOf = ({ sandbox }: Stage, id = 'browser-1') => {
  const ecdh = createECDH('prime256v1')
  const auth = randomBytes(16)
  const keys = { p256dh: ecdh.generateKeys('base64url'), auth: auth.toString('base64url') }
  return { ecdh, auth, subscription: { endpoint: `${sandbox.origin}/push/${id}`, keys } }
}
const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=push`)).body
const vapid = () => ({ subject: 'mailto:ops@example.test', ...webPush.generateVAPIDKeys() })

/** Sends what the official client made: it speaks over TLS alone. @param changes headers; an empty one is left out */
function deliver(details: webPush.RequestDetails, changes: Record<string, string> = {}, body = details.body) {
  const { 'Content-Length': _, ...headers } = details.headers as Record<string, string>
  const kept = Object.entries({ ...headers, ...changes }).filter(([, value]) => value !== '')
  return send(details.endpoint, { method: 'POST', headers: Object.fromEntries(kept), body: new Uint8Array(body ?? []) })
}

/** Opens a message of one record by RFC 8291, section 3. */
function opened(body: Buffer, { ecdh, auth }: Pick<ReturnType<typeof browserOf>, 'ecdh' | 'auth'>): string {
  const [salt, sender] = [body.subarray(0, 16), body.subarray(21, 86)]
  const derived = (secret: Uint8Array, from: Uint8Array, info: Buffer, length: number) => Buffer.from(hkdfSync('sha256', secret, from, info, length))
  const key = derived(ecdh.computeSecret(sender), auth, Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]), 32)
  const decipher = createDecipheriv(
    'aes-128-gcm',
    derived(key, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
    derived(key, salt, Buffer.from('Content-Encoding: nonce\0'), 12),
  )
  decipher.setAuthTag(body.subarray(-16))
  const plain = Buffer.concat([decipher.update(body.subarray(86, -16)), decipher.final()])
  return plain.subarray(0, plain.lastIndexOf(2)).toString('utf8')
}

describe('the sandbox’s push service', () => {
  it('accepts messages of the web-push package, which only the browser can decrypt', async () => {
    await using world = await stage(now())
    const browser = browserOf(world)
    const { status, headers } = await deliver(webPush.generateRequestDetails(browser.subscription, '{"title":"Hello"}', { vapidDetails: vapid(), TTL: 60 }))
    expect([status, headers.get('location')]).toEqual([201, expect.stringContaining('/push/messages/1')])
    const [message] = await received(world)
    expect(message).toMatchObject({
      id: 'browser-1',
      headers: { ttl: '60', 'content-encoding': 'aes128gcm', authorization: expect.stringMatching(/^vapid t=/) },
    })
    const body = Buffer.from(message.body, 'base64')
    expect(body.includes('Hello')).toBe(false)
    expect(opened(body, browser)).toBe('{"title":"Hello"}')
  })

  it('rejects unsigned, wrongly addressed, old and unencrypted messages', async () => {
    await using world = await stage(now())
    const { subscription } = browserOf(world)
    const details = webPush.generateRequestDetails(subscription, 'text', { vapidDetails: vapid(), TTL: 60 })
    const ask = async (changes: Record<string, string>, body = details.body) => (await deliver(details, changes, body)).status
    const elsewhere = webPush.generateRequestDetails({ ...subscription, endpoint: 'https://push.example.test/1' }, 'text', { vapidDetails: vapid() })
    const [, other] = String(webPush.generateRequestDetails(subscription, 'x', { vapidDetails: vapid() }).headers.Authorization).split(', k=')
    const [token] = String(details.headers.Authorization).split(', k=')
    expect(await ask({ Authorization: '' })).toBe(401)
    expect(await ask({ Authorization: String(elsewhere.headers.Authorization) })).toBe(403)
    expect(await ask({ Authorization: `${token}, k=${other}` })).toBe(403)
    expect(await ask({ TTL: '' })).toBe(400)
    expect(await ask({ Urgency: 'now' })).toBe(400)
    expect(await ask({ 'Content-Encoding': 'aesgcm' })).toBe(400)
    expect(await ask({}, Buffer.from('in the clear'))).toBe(400)
    expect(await ask({}, Buffer.alloc(4097))).toBe(413)
    expect(await received(world)).toEqual([])
    expect(await ask({})).toBe(201)
    world.clock.advance(25 * 3600 * 1000)
    expect(await ask({})).toBe(403)
  })

  it('answers with gone, or an error, by a fault', async () => {
    await using world = await stage(now())
    const { subscription } = browserOf(world)
    const notify = async () => (await deliver(webPush.generateRequestDetails(subscription, 'text', { vapidDetails: vapid() }))).status
    await world.arm({ network: 'push', fault: 'gone' })
    expect(await notify()).toBe(410)
    await world.arm({ network: 'push', fault: 'status', status: 429 })
    expect(await notify()).toBe(429)
    expect(await notify()).toBe(201)
    expect(await received(world)).toHaveLength(1)
  })
})
