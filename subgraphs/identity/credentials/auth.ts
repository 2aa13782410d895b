import { betterAuth } from 'better-auth'
import type pg from 'pg'
import { type CredentialPorts, credentialOptions } from './options.ts'
import type { IdentitySettings } from './settings.ts'

/** What we use of better-auth: its HTTP endpoint of signing in. This module is heavy: it is imported at first use. */
export function openAuth(pool: pg.Pool, publicUrl: string, settings: IdentitySettings, ports: CredentialPorts) {
  const auth = betterAuth(credentialOptions(pool, publicUrl, settings, ports))
  return {
    handle: (request: Request): Promise<Response> => auth.handler(request),
  }
}

export type Auth = ReturnType<typeof openAuth>
