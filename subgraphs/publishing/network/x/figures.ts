import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { AccessExpired, type Figures, type Network } from '../network.ts'
import { readJson } from '../wire/json.ts'
import type { XApplication } from './oauth.ts'

interface Counted {
  readonly id: string
  readonly public_metrics?: {
    readonly impression_count?: number
    readonly like_count?: number
    readonly reply_count?: number
    readonly retweet_count?: number
    readonly quote_count?: number
  }
}

/** Maximum number of posts per request to X for figures. */
const mostAtOnce = 100

/** Reads X's metrics: https://docs.x.com/x-api/fundamentals/metrics */
export function createXFigures({ apiUrl }: Pick<XApplication, 'apiUrl'>, outbound: Outbound): Required<Pick<Network, 'figures' | 'followers'>> {
  async function read<Shape extends object>(accessToken: string, path: string): Promise<Partial<Shape>> {
    const answer = await outbound(`${apiUrl}${path}`, { headers: { authorization: `Bearer ${accessToken}` } })
    if (answer.status === 401) throw new AccessExpired('X')
    if (answer.status !== 200) throw new Error(`X did not tell its figures: ${answer.status}`)
    return readJson<Shape>(answer.text)
  }

  return {
    async figures({ accessToken }, ids) {
      const figures = new Map<string, Figures>()
      for (let at = 0; at < ids.length; at += mostAtOnce) {
        const query = new URLSearchParams({ ids: ids.slice(at, at + mostAtOnce).join(','), 'tweet.fields': 'public_metrics' })
        const { data = [] } = await read<{ data: readonly Counted[] }>(accessToken, `/2/tweets?${query}`)
        for (const { id, public_metrics: counted } of data) if (counted) figures.set(id, figuresOf(counted))
      }
      return figures
    },

    async followers({ accessToken }) {
      const { data } = await read<{ data: { public_metrics?: { followers_count?: number } } }>(accessToken, '/2/users/me?user.fields=public_metrics')
      return data?.public_metrics?.followers_count ?? null
    },
  }
}

const figuresOf = (counted: NonNullable<Counted['public_metrics']>): Figures => ({
  impressions: counted.impression_count ?? null,
  likes: counted.like_count ?? null,
  comments: counted.reply_count ?? null,
  shares: counted.retweet_count === undefined ? null : counted.retweet_count + (counted.quote_count ?? 0),
  clicks: null,
  videoViews: null,
})
