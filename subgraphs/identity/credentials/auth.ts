import { betterAuth } from 'better-auth'
import type pg from 'pg'
import { type CredentialPorts, credentialOptions } from './options.ts'
import type { IdentitySettings } from './settings.ts'

/**
 * Opens better-auth, of which we use the HTTP endpoint for signing in. The module is heavy and imported at first use.
 */
export function openAuth(pool: pg.Pool, publicUrl: string, settings: IdentitySettings, ports: CredentialPorts) {
  const auth = betterAuth(credentialOptions(pool, publicUrl, settings, ports))
  return {
    handle: (request: Request): Promise<Response> => auth.handler(request),
  }
}

export type Auth = ReturnType<typeof openAuth>
