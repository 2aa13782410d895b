import { createPrivateKey, generateKeyPairSync, sign, type webcrypto } from 'node:crypto'
import type { Deps, Network, Vendor } from '../network.ts'
import { json } from '../network.ts'
import { newId } from './taken.ts'

interface Key {
  readonly kid: string
  readonly jwk: webcrypto.JsonWebKey
}

/** Stand-in for the part of the site-builder studio that we use: its signing keys and the tokens signed with them. */
export const studio: Vendor = {
  title: 'the studio',
  play(name, deps): Network {
    const keys = deps.state.collection<Key>(`${name}.keys`, 1)
    if (keys.size === 0) keys.set('own', { kid: newId(''), jwk: generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) })
    const own = keys.get('own')!
    return {
      name,
      received: () => [],
      controls: { tokens: input => mint(deps, name, own, input) },
      answer(call) {
        if (call.path !== '/.well-known/jwks.json' || call.method !== 'GET') return json(404, { error: 'not_found' }, 'refused')
        const { d: _, ...shown } = own.jwk
        return json(200, { keys: [{ ...shown, kid: own.kid, alg: 'EdDSA', use: 'sig' }] }, 'read', { 'cache-control': 'public, max-age=300' })
      },
    }
  },
}

/**
 * Signs a token as the studio does for one of its pages; fields that are left out get values that the gateway accepts.
 */
function mint({ clock, origin }: Deps, name: string, { kid, jwk }: Key, input: Readonly<Record<string, unknown>>): object | string {
  const { userId, organizationId, audience = 'app_providers', expiresInSeconds = 300, issuer = `${origin()}/${name}`, ...others } = input
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `${unknown} is not known here: a token of the studio has userId, organizationId, audience, expiresInSeconds and issuer.`
  for (const [field, value] of Object.entries({ userId, organizationId, audience, issuer })) if (typeof value !== 'string') return `${field} is not a text.`
  if (typeof expiresInSeconds !== 'number' || !Number.isInteger(expiresInSeconds)) return 'expiresInSeconds is not a whole number.'
  const iat = Math.floor(clock.now().getTime() / 1000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'EdDSA', kid, typ: 'JWT' })}.${part({ iss: issuer, aud: audience, sub: userId, org: organizationId, iat, exp: iat + expiresInSeconds })}`
  return { token: `${signed}.${sign(null, Buffer.from(signed), createPrivateKey({ key: jwk, format: 'jwk' })).toString('base64url')}` }
}
