import { betterAuth } from 'better-auth'
import type pg from 'pg'
import type { Claims } from '../context.ts'
import { type CredentialPorts, credentialOptions } from './options.ts'
import type { IdentitySettings } from './settings.ts'

/** What we use of better-auth, apart from its HTTP endpoints. This module is heavy: it is imported at first use. */
export function openAuth(pool: pg.Pool, publicUrl: string, settings: IdentitySettings, ports: CredentialPorts) {
  const auth = betterAuth(credentialOptions(pool, publicUrl, settings, ports))
  return {
    handle: (request: Request): Promise<Response> => auth.handler(request),
    /** Signs an access token, with a new key when there is none in use. */
    async sign(claims: Claims): Promise<string> {
      const { token } = await auth.api.signJWT({ body: { payload: { ...claims } } })
      return token
    },
    /** Rejects while no access token can be signed. Signs one that nobody gets and that has expired. */
    async checkSigning(): Promise<void> {
      await auth.api.signJWT({ body: { payload: { sub: 'readiness', exp: 1 } } })
    },
    /** Makes a signing key unless there is one. */
    async ensureSigningKey(): Promise<void> {
      await auth.api.getJwks()
    },
  }
}

export type Auth = ReturnType<typeof openAuth>
