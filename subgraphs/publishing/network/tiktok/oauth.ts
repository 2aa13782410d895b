import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { type Application, GrantFailure, type GrantTokens } from '../network.ts'
import { createOauth, grantFailure } from '../oauth.ts'
import type { Account } from '../publication.ts'
import type { Calls, Creator } from './calls.ts'

/** Address settings of TikTok. */
export type TiktokAddress = 'authorizeUrl' | 'apiUrl'

/** `kind` is TRIAL for an application that TikTok has not reviewed. */
export type TiktokApplication = Application<TiktokAddress> & { readonly kind?: string }

/** Scopes for the profile, drafts and posts (https://developers.tiktok.com/doc/tiktok-api-scopes). */
const scopes = ['user.info.basic', 'video.upload', 'video.publish']

/**
 * Creates TikTok's variation of OAuth 2.0: https://developers.tiktok.com/doc/login-kit-web,
 * https://developers.tiktok.com/doc/oauth-user-access-token-management
 */
export function createTiktokOauth({ clientId, clientSecret, authorizeUrl, apiUrl }: TiktokApplication, calls: Calls, outbound: Outbound) {
  const server = {
    title: 'TikTok',
    clientId,
    authorizeUrl,
    tokenUrl: `${apiUrl}/v2/oauth/token/`,
    scopes,
    authentication(_server: unknown, _client: unknown, body: URLSearchParams) {
      body.delete('client_id')
      body.set('client_key', clientId)
      body.set('client_secret', clientSecret)
    },
    // TikTok answers invalid_request for an unknown refresh token.
    finalErrors: ['invalid_grant', 'invalid_request'],
    pkce: 'hex',
    clientParameter: 'client_key',
    scopesBy: ',',
    reconnectIn: ({ refresh_expires_in: left }: Readonly<Record<string, unknown>>) => (typeof left === 'number' ? left : undefined),
  } as const
  return {
    ...createOauth(server, outbound),

    /**
     * Reads the account: https://developers.tiktok.com/doc/tiktok-api-v2-get-user-info. The creator information has the
     * user name, which post addresses need.
     */
    async account(accessToken: string): Promise<Account> {
      interface Told {
        readonly user: { readonly open_id: string; readonly display_name: string; readonly avatar_url: string }
      }
      try {
        const { answer, data, no } = await calls.get<Told>(accessToken, '/v2/user/info/?fields=open_id,union_id,avatar_url,display_name')
        if (!data?.user?.open_id)
          throw new GrantFailure(`TikTok does not say whose account this is (${answer.status})`, no !== null && no.code !== 'RATE_LIMITED')
        const { open_id: externalId, display_name: shown, avatar_url: avatarUrl } = data.user
        const creator = await calls.post<Creator>(accessToken, '/v2/post/publish/creator_info/query/', {}).catch(() => null)
        const username = creator?.data?.creator_username
        return { externalId, name: username ? `@${username}` : shown, avatarUrl: avatarUrl ?? null }
      } catch (error) {
        throw error instanceof GrantFailure ? error : grantFailure('TikTok', error)
      }
    },

    async revoke({ accessToken }: GrantTokens): Promise<void> {
      const answer = await outbound(`${apiUrl}/v2/oauth/revoke/`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ client_key: clientId, client_secret: clientSecret, token: accessToken }).toString(),
      })
      if (answer.status !== 200) throw new Error(`TikTok did not take back the access: ${answer.status}`)
    },
  }
}
