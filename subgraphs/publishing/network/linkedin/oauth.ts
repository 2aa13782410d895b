import * as oauth from 'oauth4webapi'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { type Application, GrantFailure, type GrantTokens } from '../network.ts'
import { createOauth, grantFailure } from '../oauth.ts'
import { readJson } from '../wire/json.ts'

/** Address settings of LinkedIn; `apiUrl` may have a path. */
export type LinkedinAddress = 'authorizeUrl' | 'tokenUrl' | 'apiUrl'

export type LinkedinApplication = Application<LinkedinAddress | 'version'>

/**
 * Creates LinkedIn's variation of OAuth 2.0: no PKCE, and grants that expire
 * (https://learn.microsoft.com/linkedin/shared/authentication/programmatic-refresh-tokens).
 */
export function createLinkedinOauth({ clientId, clientSecret, authorizeUrl, tokenUrl }: LinkedinApplication, scopes: readonly string[], outbound: Outbound) {
  const server = {
    title: 'LinkedIn',
    clientId,
    authorizeUrl,
    tokenUrl,
    scopes,
    authentication: oauth.ClientSecretPost(clientSecret),
    // LinkedIn answers invalid_request where the standard requires invalid_grant.
    finalErrors: ['invalid_grant', 'invalid_request'],
    pkce: null,
    // Without a refresh token the person must reconnect when the access token expires. A refresh token's lifetime
    // counts from the first login.
    reconnectIn({ refresh_token_expires_in: left, expires_in: lasts }: Readonly<Record<string, unknown>>) {
      const seconds = left ?? lasts
      return typeof seconds === 'number' ? seconds : undefined
    },
  }
  return {
    ...createOauth(server, outbound),

    /**
     * Revokes a token at the address beside the token address:
     * https://learn.microsoft.com/linkedin/shared/authentication/token-introspection
     */
    async revoke({ accessToken }: GrantTokens): Promise<void> {
      const answer = await outbound(tokenUrl.replace(/\/accessToken$/, '/revoke'), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, token: accessToken }).toString(),
      })
      if (answer.status !== 200) throw new Error(`LinkedIn did not take back the access: ${answer.status}`)
    },
  }
}

/** Reads the profile of the account. @throws GrantFailure */
export async function profileOf<Shape extends object>(outbound: Outbound, url: string, headers: Readonly<Record<string, string>>): Promise<Partial<Shape>> {
  try {
    const answer = await outbound(url, { headers })
    if (answer.status !== 200)
      throw new GrantFailure(`LinkedIn does not say whose account this is (${answer.status})`, answer.status < 500 && answer.status !== 429)
    return readJson<Shape>(answer.text)
  } catch (error) {
    throw error instanceof GrantFailure ? error : grantFailure('LinkedIn', error)
  }
}
