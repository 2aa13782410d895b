import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { GrantFailure, type Network } from '../network.ts'
import type { Account } from '../publication.ts'
import { createCalls } from './calls.ts'
import { createMedia } from './media.ts'
import { createLinkedinOauth, type LinkedinApplication, profileOf } from './oauth.ts'
import { createPublish, permalink } from './publish.ts'

/**
 * Scopes to sign in and to publish, available to every application
 * (https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/share-on-linkedin).
 */
const scopes = ['openid', 'profile', 'email', 'w_member_social']

const urnOf = ({ externalId }: Pick<Account, 'externalId'>): string => `urn:li:person:${externalId}`

/** Opens LinkedIn's API for a person at the configured addresses. */
export function open(application: LinkedinApplication, outbound: WayOut): Network {
  const calls = createCalls(application, outbound)
  const media = createMedia(calls, outbound)
  const publish = createPublish(calls)
  return {
    platform: 'LINKEDIN',
    refusesDuplicates: false,
    permalink,
    ...createLinkedinOauth(application, scopes, outbound),

    /**
     * Reads the account: https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
     */
    async account(accessToken) {
      const url = `${application.apiUrl}/v2/userinfo`
      const { sub, name, picture } = await profileOf<{ sub: string; name: string; picture: string }>(outbound, url, { authorization: `Bearer ${accessToken}` })
      if (!sub || !name) throw new GrantFailure('LinkedIn does not say whose account this is', true)
      return { externalId: sub, name, avatarUrl: picture ?? null }
    },

    prepare: ({ accessToken, account, media: files }, kept) => media.prepare(accessToken, urnOf(account), files, kept),
    publish: publication => publish.post(urnOf(publication.account), publication),
    find: () => Promise.reject(new Error('LinkedIn does not list what a person has posted')),
  }
}
