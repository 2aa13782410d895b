import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { type Application, GrantFailure, type GrantTokens } from '../network.ts'
import { createOauth, grantFailure } from '../oauth.ts'
import type { Account } from '../publication.ts'
import { readJson } from '../wire/json.ts'

/** Address settings of X; `apiUrl` may have a path. */
export type XAddress = 'authorizeUrl' | 'apiUrl' | 'legacyApiUrl'

export type XApplication = Application<XAddress>

/**
 * Scopes to read, to write, to upload media, and to renew access while no person is present
 * (https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code).
 */
const scopes = ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access']

/** Creates X's variation of OAuth 2.0, with the look-up of a grant's account. */
export function createXOauth({ clientId, clientSecret, authorizeUrl, apiUrl, legacyApiUrl }: XApplication, outbound: Outbound) {
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const server = {
    title: 'X',
    clientId,
    authorizeUrl,
    tokenUrl: `${apiUrl}/2/oauth2/token`,
    scopes,
    // RFC 6749 §2.3.1 form-encodes id and secret first; X compares them as they are.
    authentication: (_server: unknown, _client: unknown, _body: unknown, headers: Headers) => headers.set('authorization', basic),
    // X answers invalid_request where the standard requires invalid_grant.
    finalErrors: ['invalid_grant', 'invalid_request'],
  }
  return {
    ...createOauth(server, outbound),

    /**
     * Reads the account: https://docs.x.com/x-api/users/get-my-user. Falls back to X's former host if its present one
     * does not answer properly.
     */
    async account(accessToken: string): Promise<Account> {
      try {
        return await accountAt(apiUrl, accessToken)
      } catch (error) {
        if (error instanceof GrantFailure && error.permanent) throw error
        return accountAt(legacyApiUrl, accessToken)
      }
    },

    /** Revokes the tokens: https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token#revoke-token */
    async revoke({ accessToken, refreshToken }: GrantTokens): Promise<void> {
      const answer = await outbound(`${apiUrl}/2/oauth2/revoke`, {
        method: 'POST',
        headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token: refreshToken ?? accessToken, token_type_hint: refreshToken ? 'refresh_token' : 'access_token' }).toString(),
      })
      if (answer.status !== 200) throw new Error(`X did not end the grant: ${answer.status}`)
    },
  }

  async function accountAt(url: string, accessToken: string): Promise<Account> {
    try {
      const answer = await outbound(`${url}/2/users/me?user.fields=id,name,username,profile_image_url`, { headers: { authorization: `Bearer ${accessToken}` } })
      const { data } = readJson<{ data?: { id?: string; username?: string; profile_image_url?: string } }>(answer.text)
      if (answer.status !== 200 || !data?.id || !data.username)
        throw new GrantFailure(`X does not say whose account this is (${answer.status})`, answer.status === 401)
      return { externalId: data.id, name: `@${data.username}`, avatarUrl: data.profile_image_url ?? null }
    } catch (error) {
      throw error instanceof GrantFailure ? error : grantFailure('X', error)
    }
  }
}
