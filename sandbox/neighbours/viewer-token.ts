import { createPublicKey, verify, type webcrypto } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Call } from '../network.ts'

type JsonWebKey = webcrypto.JsonWebKey & { readonly kid?: string }

/** What a token of the launcher tells about the viewer for whom somebody is asked. */
export interface ViewerClaims {
  readonly iss: string
  readonly aud: string
  readonly sub?: string
  readonly org?: string
  readonly context: string
  readonly role?: string
  readonly exp: number
}

const partOf = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Readonly<Record<string, unknown>>

/**
 * Opens what reads such tokens of calls: null for one that is missing, forged or expired.
 * @param launcher below it the launcher publishes its keys; null: no signature is checked
 */
export function openViewerTokens(launcher: string | null, clock: Pick<Clock, 'now'>): (call: Call) => Promise<ViewerClaims | null> {
  let known: { readonly keys: readonly JsonWebKey[]; readonly at: number } | null = null

  async function keyOf(kid: unknown): Promise<JsonWebKey | null> {
    if (!known || clock.now().getTime() - known.at > 60_000 || !known.keys.some(key => key.kid === kid)) {
      const answer = await fetch(`${launcher}/keys`, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
      if (answer?.ok) known = { ...((await answer.json()) as { keys: readonly JsonWebKey[] }), at: clock.now().getTime() }
    }
    return known?.keys.find(key => key.kid === kid) ?? null
  }

  return async ({ headers }) => {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
    const [head, body, signature] = token?.split('.') ?? []
    if (!head || !body || !signature) return null
    try {
      const claims = partOf(body) as unknown as ViewerClaims
      if (claims.exp * 1_000 <= clock.now().getTime()) return null
      if (launcher === null) return claims
      const jwk = await keyOf(partOf(head).kid)
      const isGood = jwk && verify(null, Buffer.from(`${head}.${body}`), createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'base64url'))
      return isGood ? claims : null
    } catch {
      return null
    }
  }
}
