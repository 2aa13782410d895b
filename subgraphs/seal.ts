import { createHash } from 'node:crypto'
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import { DomainError } from '../platform/errors.ts'
import type { Viewer } from './viewer.ts'

/** The header, and the key of a `connection_init` payload, in which the router's seal travels. */
export const sealHeader = 'x-viewer-seal'

/** What every seal says of itself: no token of another use can pass for one. */
export const sealIssuer = 'supergraph router'
export const sealType = 'viewer+jwt'

/** How long a seal is good for, in seconds. */
export const sealSeconds = 60

/** How far the router's clock may be ahead of a subgraph's, in seconds: as far as each may be beside the database's. */
const skewSeconds = 30

/** What one seal was made for: it opens that and nothing else. */
export interface Purpose extends Addressed {
  /** SHA-256 of the one request's body, in base64url; null for an operation, and for a body that streams. */
  readonly body: string | null
}

/** A purpose without the body: as much of it as the head of a request tells. */
export interface Addressed {
  /**
   * `operation`: GraphQL, over HTTP and WebSocket. `forward`: one request that is passed on. `stream`: one whose body is passed on while it
   * comes, so that nobody knows its hash beforehand; such a seal opens once. `ask`: one of the router's own questions.
   */
  readonly for: 'operation' | 'forward' | 'stream' | 'ask'
  /** Method and target of the one request, and the address of the caller whose it is, as a hash; null for an operation. */
  readonly request: string | null
}

/** The head of a request that is passed on, as a seal knows it. */
export interface ForwardHead {
  readonly method: string
  /** Path and query, as they are sent. */
  readonly target: string
  /** Whose request it is, as `addressHeader` says beside the seal. */
  readonly address: string
}

export const forOperation: Purpose = { for: 'operation', request: null, body: null }
export const aForward = ({ method, target, address }: ForwardHead): Addressed => ({
  for: 'forward',
  request: hashOf(JSON.stringify([method, target, address])),
})
export const forStream = (head: ForwardHead): Purpose => ({ ...aForward(head), for: 'stream', body: null })
export const anAsk = (method: string, target: string): Addressed => ({ for: 'ask', request: hashOf(JSON.stringify([method, target])) })
export const forForward = (head: ForwardHead, body: Uint8Array | string): Purpose => ({ ...aForward(head), body: hashOf(body) })
export const forAsk = (method: string, target: string, body: Uint8Array | string): Purpose => ({ ...anAsk(method, target), body: hashOf(body) })

/** Hashes, because targets and bodies hold codes that a log of seals should not, and may be long. */
const hashOf = (text: Uint8Array | string) => createHash('sha256').update(text).digest('base64url')

/** Opens a destination to seals that were made for it, whatever the body: that is read, and judged by `isFor`, only for who has one. */
export const isAddressed = (wanted: Addressed) => (found: Purpose) => found.for === wanted.for && found.request === wanted.request

/** Opens a destination to seals that were made for it. */
export const isFor = (wanted: Purpose) => (found: Purpose) => isAddressed(wanted)(found) && found.body === wanted.body

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
  /**
   * Hears of each seal that is read for the first time and in order but for its time perhaps.
   * @param aheadSeconds how far the router's clock seems to be ahead (negative: behind) when its time had it refused; null when it was believed
   */
  readonly noteTime?: (aheadSeconds: number | null) => void
}

/**
 * Reads the viewer out of a seal (JWS, RFC 7515): made by the router, for this subgraph and for what it is shown for, not older
 * than a minute, though half a minute may seem to be missing until it is made.
 * The same seal gives the same viewer object.
 * @param opens whether a seal for that purpose opens what is asked for
 * @throws DomainError UNAUTHENTICATED for everything else, without saying which check failed; `isUntimely` knows it when that was the time alone
 */
export type SealReader = (token: unknown, opens: (purpose: Purpose) => boolean) => Promise<Viewer>

interface Sealed {
  readonly viewer: Viewer
  readonly purpose: Purpose
  /** In ms. */
  readonly endsAt: number
  /** What tells it from every other (`jti`): its text does not, for one signature can be written in several ways. */
  readonly id: string
}

/** Seals that are remembered at most: the router uses one for several requests. */
const mostRemembered = 1000
/** Seals that have opened a stream and are not over yet, at most: they open nothing more. */
const mostSpent = 100_000

export function createSealReader({ audience, keys, clock, noteTime = () => {} }: SealReaderOptions): SealReader {
  const set = createLocalJWKSet({ keys: keys.map(publicJwk) })
  const known = new LRUCache<string, Sealed>({ max: mostRemembered })
  const spent = new LRUCache<string, number>({ max: mostSpent })
  const verify = async (token: string): Promise<Sealed> => {
    try {
      const { payload } = await jwtVerify<{ viewer: unknown; for: unknown; request: unknown; body: unknown }>(token, set, {
        algorithms: ['EdDSA'],
        issuer: sealIssuer,
        audience,
        typ: sealType,
        requiredClaims: ['exp', 'iat', 'jti', 'viewer', 'for', 'request', 'body'],
        // The time is checked last and below, so that an error names the time only if everything else is valid.
        clockTolerance: Number.MAX_SAFE_INTEGER,
      })
      const { aud, iat, exp, jti, viewer, ...rest } = payload
      // The standard allows a list: one seal for several subgraphs, which the router never makes.
      if (aud !== audience) throw refusal()
      if (typeof iat !== 'number' || typeof exp !== 'number' || typeof jti !== 'string' || exp - iat > sealSeconds) throw refusal()
      const purpose = { for: rest.for, request: rest.request, body: rest.body }
      if (!isViewer(viewer) || !isPurpose(purpose)) throw refusal()
      const now = clock.now().getTime() / 1000
      const inTime = iat <= now + skewSeconds && exp > now
      noteTime(inTime ? null : iat - now)
      if (!inTime) throw noteUntimely(refusal())
      return { viewer: Object.freeze(viewer), purpose, endsAt: exp * 1000, id: jti }
    } catch (error) {
      throw isUntimely(error) ? error : refusal()
    }
  }
  return async (token, opens) => {
    if (typeof token !== 'string') throw refusal()
    const remembered = known.get(token)
    const sealed = remembered && remembered.endsAt > clock.now().getTime() ? remembered : await verify(token)
    if (sealed !== remembered) known.set(token, sealed)
    if (!opens(sealed.purpose)) throw refusal()
    if (sealed.purpose.for === 'stream') {
      if ((spent.get(sealed.id) ?? 0) > clock.now().getTime()) throw refusal()
      spent.set(sealed.id, sealed.endsAt)
    }
    return sealed.viewer
  }
}

const publicJwk = ({ id, key }: SealKey): JWK => ({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: id, x: key.toString('base64url') })

const refusal = () => new DomainError('UNAUTHENTICATED', 'Only the router may ask here, with a seal of its own for this service: ask the router instead.')

const untimely = new WeakSet<object>()

const noteUntimely = (refused: DomainError): DomainError => {
  untimely.add(refused)
  return refused
}

/** Whether a seal was refused for its time alone: the router made it, and its clock or this process's is wrong, or it was long on its way. */
export const isUntimely = (error: unknown): boolean => typeof error === 'object' && error !== null && untimely.has(error)

function isPurpose(value: { readonly [Key in keyof Purpose]: unknown }): value is Purpose {
  if (value.for === 'operation') return value.request === null && value.body === null
  if (value.for === 'stream') return typeof value.request === 'string' && value.body === null
  return (value.for === 'forward' || value.for === 'ask') && typeof value.request === 'string' && typeof value.body === 'string'
}

function isViewer(value: unknown): value is Viewer {
  const { kind, roles, scopes, context } = (value ?? {}) as Partial<Viewer>
  const known = kind === 'user' || kind === 'apiKey' || kind === 'service' || kind === 'anonymous'
  return known && Array.isArray(roles) && Array.isArray(scopes) && (context === 'personal' || context === 'organization')
}
