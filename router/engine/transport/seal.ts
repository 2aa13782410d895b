import { createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { type Purpose, type SealKey, sealIssuer, sealSeconds, sealType } from '../../../subgraphs/seal.ts'
import type { Viewer } from '../../../subgraphs/viewer.ts'

/**
 * Signs the viewer for one subgraph and one purpose, so that only this subgraph accepts the seal and only the router
 * can create it.
 */
export type Seal = (viewer: Viewer, audience: string, purpose: Purpose) => Promise<string>

/**
 * How long the seal of an operation is reused for the same viewer and subgraph, in ms; the rest of its minute is left
 * for transport.
 */
const reuseMs = 20_000

interface Made {
  readonly seal: Promise<string>
  /** When the seal was created, in ms. */
  readonly at: number
}

/**
 * Creates seals: Ed25519 JWS of `{ viewer, aud, for, request, body, exp, iat, jti }`, valid for a minute. Only seals of
 * operations are reused; all others are for a single request.
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

/** Returns the public half of a private key, for services that verify its seals. */
export function publicHalf({ id, key }: SealKey): SealKey {
  const { x } = createPublicKey(privateKey(key)).export({ format: 'jwk' })
  return { id, key: Buffer.from(x!, 'base64url') }
}

/** Wraps the 32 bytes of a private key in PKCS #8 (RFC 8410), which is a fixed prefix. */
function privateKey(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]), format: 'der', type: 'pkcs8' })
}
