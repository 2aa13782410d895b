import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'

/** A message as the sandbox's push service received it. */
export interface PushedMessage {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  /** In base64. */
  readonly body: string
}

/** A browser that takes push messages, and opens them as RFC 8291 says. */
export function openBrowser(origin: string, id: string) {
  const ecdh = createECDH('prime256v1')
  const auth = randomBytes(16)
  return {
    id,
    subscription: { endpoint: `${origin}/push/${id}`, p256dh: ecdh.generateKeys('base64url'), auth: auth.toString('base64url') },
    open({ body: text }: PushedMessage): Readonly<Record<string, string>> {
      const body = Buffer.from(text, 'base64')
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
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString('utf8'))
    },
  }
}

/** Who signed a message, and what the token says: null where the signature is not that of the key beside it. */
export function signedBy({ headers }: PushedMessage): { readonly key: string; readonly claims: Readonly<Record<string, unknown>> } | null {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization ?? '') ?? []
  const [head = '', payload = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') }
  const isGenuine = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  return isGenuine ? { key, claims: JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) } : null
}
