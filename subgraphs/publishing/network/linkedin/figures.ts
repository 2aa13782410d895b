import type { Figures } from '../network.ts'
import { type Calls, listOf } from './calls.ts'

interface Statistics {
  readonly share?: string
  readonly ugcPost?: string
  readonly totalShareStatistics?: {
    readonly impressionCount?: number
    readonly likeCount?: number
    readonly commentCount?: number
    readonly shareCount?: number
    readonly clickCount?: number
  }
}

/** Maximum number of posts per request: their ids must fit into a URL. */
const mostAtOnce = 50

/**
 * Reads LinkedIn's statistics of an organization:
 * https://learn.microsoft.com/linkedin/marketing/community-management/organizations/share-statistics
 */
export function createFigures(calls: Calls) {
  return {
    async ofPosts(accessToken: string, organization: string, ids: readonly string[]): Promise<ReadonlyMap<string, Figures>> {
      const figures = new Map<string, Figures>()
      for (const [parameter, mark] of [
        ['shares', 'urn:li:share:'],
        ['ugcPosts', 'urn:li:ugcPost:'],
      ] as const) {
        const named = ids.filter(id => id.startsWith(mark))
        for (let at = 0; at < named.length; at += mostAtOnce) {
          const of = `q=organizationalEntity&organizationalEntity=${encodeURIComponent(organization)}&${parameter}=${listOf(named.slice(at, at + mostAtOnce))}`
          const { elements = [] } = await calls.read<{ elements: readonly Statistics[] }>(accessToken, `/rest/organizationalEntityShareStatistics?${of}`)
          for (const { share, ugcPost, totalShareStatistics: counted } of elements) {
            const id = share ?? ugcPost
            if (id && counted) figures.set(id, figuresOf(counted))
          }
        }
      }
      return figures
    },

    /**
     * Returns the number of followers:
     * https://learn.microsoft.com/linkedin/marketing/community-management/organizations/organization-lookup-api#retrieve-organization-follower-count
     */
    async followers(accessToken: string, organization: string): Promise<number | null> {
      const path = `/rest/networkSizes/${encodeURIComponent(organization)}?edgeType=COMPANY_FOLLOWED_BY_MEMBER`
      const { firstDegreeSize } = await calls.read<{ firstDegreeSize: number }>(accessToken, path)
      return firstDegreeSize ?? null
    },
  }
}

const figuresOf = (counted: NonNullable<Statistics['totalShareStatistics']>): Figures => ({
  impressions: counted.impressionCount ?? null,
  likes: counted.likeCount ?? null,
  comments: counted.commentCount ?? null,
  shares: counted.shareCount ?? null,
  clicks: counted.clickCount ?? null,
  videoViews: null,
})
