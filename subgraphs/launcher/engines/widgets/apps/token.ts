import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { Clock } from '../../../../../platform/clock.ts'
import { newId } from '../../../../../platform/ids.ts'
import type { Share } from './share.ts'

const alg = 'EdDSA'

/** Validity of a token, in seconds. */
const lifeSeconds = 60

export interface ViewerTokens {
  /** Writes a token that tells an app for whom its widget is read, and nothing else. */
  write(share: Omit<Share, 'key'>): Promise<string>
  /** The public keys, as the launcher publishes them. */
  keys(): Promise<{ readonly keys: readonly JWK[] }>
}

/** Makes the pair of keys that tokens are signed with, as text. */
export async function newKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair(alg, { crv: 'Ed25519', extractable: true })
  return JSON.stringify({ ...(await exportJWK(privateKey)), kid: newId(), alg, use: 'sig' })
}

/**
 * Opens the tokens.
 * @param secret reads the keys, which all processes of the launcher share
 */
export function openViewerTokens({ issuer, clock, secret }: { readonly issuer: string; readonly clock: Clock; secret(): Promise<string> }): ViewerTokens {
  let opened: Promise<{ readonly jwk: JWK; readonly key: Awaited<ReturnType<typeof importJWK>> }> | null = null
  const open = () => {
    opened ??= secret().then(async text => {
      const jwk = JSON.parse(text) as JWK
      return { jwk, key: await importJWK(jwk, alg) }
    })
    // What failed is tried again by the next token.
    opened.catch(() => {
      opened = null
    })
    return opened
  }
  return {
    async write({ entryId, organizationId, userId, role }) {
      const { jwk, key } = await open()
      const seconds = Math.floor(clock.now().getTime() / 1_000)
      const claims = organizationId === null ? { context: 'personal' } : { context: 'organization', org: organizationId, role }
      const token = new SignJWT(claims)
        .setProtectedHeader({ alg, kid: jwk.kid!, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(entryId)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + lifeSeconds)
        .setJti(newId(clock.now()))
      return (userId === null ? token : token.setSubject(userId)).sign(key)
    },
    async keys() {
      const { d: _, ...shown } = (await open()).jwk
      return { keys: [shown] }
    },
  }
}
