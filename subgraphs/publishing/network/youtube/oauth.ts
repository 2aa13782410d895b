import * as oauth from 'oauth4webapi'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { type Application, GrantFailure, type GrantTokens } from '../network.ts'
import { createOauth, grantFailure } from '../oauth.ts'
import type { Account } from '../publication.ts'
import { type Calls, noOf, read } from './calls.ts'

/** Address settings of Google's authorization; YouTube itself is called through the gateway. */
export type YoutubeAddress = 'authorizeUrl' | 'tokenUrl'

export type YoutubeApplication = Application<YoutubeAddress>

const scopes = ['https://www.googleapis.com/auth/youtube.upload', 'https://www.googleapis.com/auth/youtube.readonly']

interface Channels {
  readonly items: readonly {
    readonly id: string
    readonly snippet: { readonly title: string; readonly customUrl?: string; readonly thumbnails?: { readonly default?: { readonly url: string } } }
  }[]
}

/**
 * Creates Google's variation of OAuth 2.0: https://developers.google.com/identity/protocols/oauth2/web-server. Each
 * consent issues a refresh token, and renewals issue no new one.
 */
export function createYoutubeOauth({ clientId, clientSecret, authorizeUrl, tokenUrl }: YoutubeApplication, calls: Calls, outbound: Outbound) {
  const server = {
    title: 'YouTube',
    clientId,
    authorizeUrl,
    tokenUrl,
    scopes,
    authentication: oauth.ClientSecretPost(clientSecret),
    finalErrors: ['invalid_grant'],
    pkce: null,
    parameters: { access_type: 'offline', prompt: 'consent' },
  } as const
  const granted = createOauth(server, outbound)
  return {
    ...granted,

    /** A person may leave out single wishes on Google's page. */
    async exchange(callback: Parameters<typeof granted.exchange>[0]) {
      const grant = await granted.exchange(callback)
      if (scopes.every(scope => grant.scopes.includes(scope))) return grant
      throw new GrantFailure('YouTube did not grant every permission that publishing needs: accept all of them on its page.', true)
    },

    /** The channel behind a grant: https://developers.google.com/youtube/v3/docs/channels/list */
    async account(accessToken: string, organizationId: string | null = null): Promise<Account> {
      try {
        const answer = await calls.ask({ accessToken, organizationId }, 'youtube/v3/channels?part=id,snippet&mine=true')
        if (answer.status !== 200) {
          const no = noOf(answer)
          const isForGood = no.outcome === 'refused' && no.code !== 'RATE_LIMITED' && no.code !== 'BUDGET_EXCEEDED'
          throw new GrantFailure(`YouTube does not say whose channel this is: ${no.detail}`, isForGood)
        }
        const [channel] = read<Channels>(answer).items ?? []
        if (!channel?.id) throw new GrantFailure('This account of Google has no channel on YouTube: make one there first.', true)
        const { title, customUrl, thumbnails } = channel.snippet
        return { externalId: channel.id, name: customUrl || title, avatarUrl: thumbnails?.default?.url ?? null }
      } catch (error) {
        throw error instanceof GrantFailure ? error : grantFailure('YouTube', error)
      }
    },

    /**
     * Revokes all of the account's grants to us:
     * https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke
     */
    async revoke({ accessToken, refreshToken }: GrantTokens): Promise<void> {
      const answer = await outbound(new URL('revoke', tokenUrl), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token: refreshToken ?? accessToken }).toString(),
      })
      if (answer.status !== 200) throw new Error(`Google did not take back the access: ${answer.status}`)
    },
  }
}
