import { createLocalJWKSet, type JWK, jwtVerify } from 'jose'
import type { Clock } from '../platform/clock.ts'
import { Refusal } from '../platform/errors.ts'
import { createLru } from '../platform/lru.ts'
import type { Viewer } from './viewer.ts'

/** The header, and the key of a `connection_init` payload, in which the router's seal travels. */
export const sealHeader = 'x-viewer-seal'

/** What every seal says of itself: no token of another use can pass for one. */
export const sealIssuer = 'supergraph router'
export const sealType = 'viewer+jwt'

/** How long a seal is good for, in seconds. */
export const sealSeconds = 60

/** How far the router's clock may be ahead of a subgraph's, in seconds: two machines never tell quite the same time. */
const skewSeconds = 5

/** A public key that seals are checked with: Ed25519 (RFC 8037), 32 bytes. */
export interface SealKey {
  /** The `kid` of seals made with its private half. */
  readonly id: string
  readonly key: Buffer
}

export interface SealReaderOptions {
  /** Whom seals must be made for: this subgraph's slug. */
  readonly audience: string
  /** All that are good at present: rotation adds the new one here before the router uses it, and takes the old one away after. */
  readonly keys: readonly SealKey[]
  readonly clock: Clock
}

/**
 * Reads the viewer out of a seal (JWS, RFC 7515): made by the router, for this subgraph, not older than a minute, though a few
 * seconds may seem to be missing until it is made.
 * The same seal gives the same viewer object.
 * @throws Refusal UNAUTHENTICATED for everything else, without saying which check failed
 */
export type SealReader = (token: unknown) => Promise<Viewer>

/** Seals that are remembered at most: the router uses one for several requests. */
const mostRemembered = 1000

export function createSealReader({ audience, keys, clock }: SealReaderOptions): SealReader {
  const set = createLocalJWKSet({ keys: keys.map(publicJwk) })
  const known = createLru<string, { readonly viewer: Viewer; readonly endsAt: number }>(mostRemembered)
  return async token => {
    if (typeof token !== 'string') throw refusal()
    const remembered = known.get(token)
    if (remembered && remembered.endsAt > clock.now().getTime()) return remembered.viewer
    try {
      const { payload } = await jwtVerify<{ viewer: unknown }>(token, set, {
        algorithms: ['EdDSA'],
        issuer: sealIssuer,
        audience,
        typ: sealType,
        requiredClaims: ['exp', 'iat', 'jti', 'viewer'],
        currentDate: clock.now(),
      })
      const { iat = 0, exp = 0 } = payload
      if (iat > clock.now().getTime() / 1000 + skewSeconds || exp - iat > sealSeconds) throw refusal()
      if (!isViewer(payload.viewer)) throw refusal()
      const viewer = Object.freeze(payload.viewer)
      known.set(token, { viewer, endsAt: exp * 1000 })
      return viewer
    } catch {
      throw refusal()
    }
  }
}

const publicJwk = ({ id, key }: SealKey): JWK => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: id, x: key.toString('base64url') })

const refusal = () => new Refusal('UNAUTHENTICATED', 'Only the router may ask here, with a seal of its own for this service: ask the router instead.')

function isViewer(value: unknown): value is Viewer {
  const { kind, roles, scopes, context } = (value ?? {}) as Partial<Viewer>
  const known = kind === 'user' || kind === 'apiKey' || kind === 'service' || kind === 'anonymous'
  return known && Array.isArray(roles) && Array.isArray(scopes) && (context === 'personal' || context === 'organization')
}
