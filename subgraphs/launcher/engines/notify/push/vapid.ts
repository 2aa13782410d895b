import { importJWK, SignJWT } from 'jose'
import type { Clock } from '../../../../../platform/clock.ts'
import { publicOf } from './key.ts'

/** Validity of a token in seconds; push services take up to a day (RFC 8292, section 2). */
const lifeSeconds = 12 * 3600

/** Signs push messages, so that push services know who sends them (RFC 8292). */
export interface Vapid {
  /** The public key, which browsers want before they subscribe: an uncompressed point, base64url. */
  publicKey(): Promise<string>
  /** Returns the header `Authorization` of a message. @param endpoint where it is sent */
  authorization(endpoint: string): Promise<string>
}

export interface VapidOptions {
  /** How a push service reaches the operator: `mailto:` or `https:`. */
  readonly subject: string
  readonly clock: Clock
  /** Reads the private key, which all processes of the launcher share: 32 bytes, base64url. */
  secret(): Promise<string>
}

/** Opens the signer; the key is read with the first message. */
export function openVapid({ subject, clock, secret }: VapidOptions): Vapid {
  let opened: Promise<{ readonly point: Buffer; readonly key: Awaited<ReturnType<typeof importJWK>> }> | null = null
  const open = () => {
    opened ??= secret().then(async d => {
      const point = publicOf(d)
      const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(part => part.toString('base64url')) as [string, string]
      return { point, key: await importJWK({ kty: 'EC', crv: 'P-256', x, y, d }, 'ES256') }
    })
    // What failed is tried again by the next message.
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    publicKey: async () => (await open()).point.toString('base64url'),
    async authorization(endpoint) {
      const { point, key } = await open()
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
        .setAudience(new URL(endpoint).origin)
        .setSubject(subject)
        .setExpirationTime(Math.floor(clock.now().getTime() / 1_000) + lifeSeconds)
        .sign(key)
      return `vapid t=${token}, k=${point.toString('base64url')}`
    },
  }
}
