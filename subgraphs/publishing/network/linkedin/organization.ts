import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { AccessExpired, GrantFailure, type Network } from '../network.ts'
import { grantFailure } from '../oauth.ts'
import type { Account, Delivery, Place, Target } from '../publication.ts'
import { createCalls, listOf } from './calls.ts'
import { createFigures } from './figures.ts'
import { findListed } from './listing.ts'
import { createMedia } from './media.ts'
import { createLinkedinOauth, type LinkedinApplication, profileOf } from './oauth.ts'
import { createPublish, permalink, textOf } from './publish.ts'

/**
 * Scopes to publish as organizations, read their posts, and list the organizations that a person administers; LinkedIn
 * grants them after a review.
 */
const scopes = ['r_basicprofile', 'w_organization_social', 'r_organization_social', 'rw_organization_admin']

const mark = 'urn:li:organization:'

/** Maximum number of a person's organizations that are read, more than a person administers in practice. */
const mostOrganizations = 200
/** Number of roles per request, LinkedIn's maximum. */
const pageSize = 100

interface Profile {
  readonly id: string
  readonly localizedFirstName: string
  readonly localizedLastName: string
}

/** Opens LinkedIn's API for pages of organizations at the configured addresses. */
export function open(application: LinkedinApplication, outbound: WayOut): Network {
  const calls = createCalls(application, outbound)
  const media = createMedia(calls, outbound)
  const publish = createPublish(calls)
  const figures = createFigures(calls)

  /** The organizations that the person administers: https://learn.microsoft.com/linkedin/marketing/community-management/organizations/organization-access-control-by-role */
  async function placesOf(accessToken: string): Promise<readonly Place[]> {
    const ids: string[] = []
    for (let start = 0; start < mostOrganizations; start += pageSize) {
      const of = `q=roleAssignee&role=ADMINISTRATOR&state=APPROVED&start=${start}&count=${pageSize}`
      const { elements = [] } = await calls.read<{ elements: readonly { readonly organization?: string }[] }>(accessToken, `/rest/organizationAcls?${of}`, {
        headers: { 'x-restli-method': 'FINDER' },
      })
      ids.push(...elements.flatMap(({ organization }) => (organization?.startsWith(mark) ? [organization.slice(mark.length)] : [])))
      if (elements.length < pageSize) break
    }
    if (ids.length === 0) return []
    const { results = {} } = await calls.read<{ results: Readonly<Record<string, { readonly localizedName?: string }>> }>(
      accessToken,
      `/rest/organizations?ids=${listOf(ids)}`,
    )
    return ids.map(id => ({
      kind: 'ORGANIZATION',
      externalId: id,
      name: results[id]?.localizedName ?? `Organization ${id}`,
      accessToken: null,
      available: true,
      reason: null,
    }))
  }

  return {
    platform: 'LINKEDIN_PAGE',
    refusesDuplicates: false,
    permalink,
    ...createLinkedinOauth(application, scopes, outbound),

    /** Reads the account: https://learn.microsoft.com/linkedin/shared/integrations/people/profile-api */
    async account(accessToken): Promise<Account> {
      const headers = calls.headersOf(accessToken)
      const { id, localizedFirstName = '', localizedLastName = '' } = await profileOf<Profile>(outbound, `${application.apiUrl}/v2/me`, headers)
      if (!id) throw new GrantFailure('LinkedIn does not say whose account this is', true)
      const name = `${localizedFirstName} ${localizedLastName}`.trim()
      try {
        return { externalId: id, name: name || 'LinkedIn', places: await placesOf(accessToken) }
      } catch (error) {
        throw error instanceof AccessExpired ? new GrantFailure(error.message, true) : grantFailure('LinkedIn', error)
      }
    },

    async prepare({ accessToken, target, media: files }, kept) {
      return target ? media.prepare(accessToken, urnOf(target), files, kept) : nowhere
    },

    async publish(publication) {
      const { accessToken, target, inReplyTo } = publication
      if (!target) return nowhere
      const author = urnOf(target)
      return ofPlace(inReplyTo === null ? await publish.post(author, publication) : await publish.comment(accessToken, author, inReplyTo, textOf(publication)))
    },

    async find(publication, since, except) {
      if (!publication.target) return { found: false, isAnothers: false }
      return findListed(calls, urnOf(publication.target), publication, since, except)
    },

    async comment({ accessToken, target, platformPostId, text }) {
      return target ? ofPlace(await publish.comment(accessToken, urnOf(target), platformPostId, text)) : nowhere
    },

    figures: async ({ accessToken, target }, ids) => (target ? figures.ofPosts(accessToken, urnOf(target), ids) : new Map()),
    followers: async ({ accessToken, target }) => (target ? figures.followers(accessToken, urnOf(target)) : null),
  }
}

const urnOf = ({ externalId }: Pick<Target, 'externalId'>): string => `${mark}${externalId}`

const nowhere = { outcome: 'refused', code: 'TARGET_UNAVAILABLE', detail: 'no organization is chosen' } as const

/** Maps LinkedIn's refusal of the author to TARGET_UNAVAILABLE: the account may not post as the organization. */
const ofPlace = (delivery: Delivery): Delivery =>
  delivery.outcome === 'refused' && delivery.code === 'NETWORK_REFUSED' && /\/author|\/actor|organization/i.test(delivery.detail)
    ? { ...delivery, code: 'TARGET_UNAVAILABLE' }
    : delivery
