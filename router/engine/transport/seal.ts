import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { type Purpose, type SealKey, sealIssuer, sealSeconds, sealType } from '../../../subgraphs/seal.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/** Signs who calls one subgraph and for what, so that only this subgraph accepts it and only the router can make it. */
export type Seal = (viewer: Viewer, audience: string, purpose: Purpose) => Promise<string>

/** How long the seal of an operation is used again for the same viewer and subgraph, in ms: what is left of its minute is for the way. */
const reuseMs = 20_000

interface Made {
  readonly seal: Promise<string>
  /** When it was made, in ms. */
  readonly at: number
}

/**
 * Makes seals: Ed25519 JWS of `{ viewer, aud, for, request, body, exp, iat, jti }`, good for a minute. Only those of operations are
 * used again: another is for one request.
 * @param key id and the 32 bytes of the private key
 */
export function createSeal({ id, key }: SealKey, clock: Clock): Seal {
  const signing = privateKey(key)
  const made = new WeakMap<Viewer, Map<string, Made>>()
  const sign = (viewer: Viewer, audience: string, purpose: Purpose, now: number) => {
    const issued = Math.floor(now / 1000)
    return new SignJWT({ viewer, for: purpose.for, request: purpose.request, body: purpose.body })
      .setProtectedHeader({ alg: 'EdDSA', kid: id, typ: sealType })
      .setIssuer(sealIssuer)
      .setAudience(audience)
      .setIssuedAt(issued)
      .setExpirationTime(issued + sealSeconds)
      .setJti(randomUUID())
      .sign(signing)
  }
  return (viewer, audience, purpose) => {
    const now = clock.now().getTime()
    if (purpose.for !== 'operation') return sign(viewer, audience, purpose, now)
    const ofViewer = made.get(viewer) ?? new Map<string, Made>()
    made.set(viewer, ofViewer)
    const known = ofViewer.get(audience)
    // If the clock is set back, a seal from the future must not stay in use.
    if (known && known.at <= now && now < known.at + reuseMs) return known.seal
    const seal = sign(viewer, audience, purpose, now)
    ofViewer.set(audience, { seal, at: now })
    return seal
  }
}

/** The public half of a private key, for those who check its seals. */
export function publicHalf({ id, key }: SealKey): SealKey {
  const { x } = createPublicKey(privateKey(key)).export({ format: 'jwk' })
  return { id, key: Buffer.from(x!, 'base64url') }
}

/** PKCS #8 (RFC 8410) is a fixed head before the 32 bytes. */
function privateKey(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]), format: 'der', type: 'pkcs8' })
}
