import { AccessExpired, type Figures, type Network } from '../network.ts'
import { type Asking, type Calls, noOf, read } from './calls.ts'

/** Maximum number of films per request to YouTube for figures. */
const mostAtOnce = 50

interface Counted {
  readonly items: readonly {
    readonly id: string
    readonly statistics?: { readonly viewCount?: string; readonly likeCount?: string; readonly commentCount?: string }
  }[]
}

interface Channels {
  readonly items: readonly { readonly statistics?: { readonly subscriberCount?: string; readonly hiddenSubscriberCount?: boolean } }[]
}

const numberIn = (text: string | undefined): number | null => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null)

/** Reads YouTube's statistics: https://developers.google.com/youtube/v3/docs/videos#statistics */
export function createYoutubeFigures(calls: Calls): Required<Pick<Network, 'figures' | 'followers'>> {
  async function told<Shape extends object>(asking: Asking, path: string): Promise<Partial<Shape>> {
    const answer = await calls.ask(asking, path)
    if (answer.status === 200) return read<Shape>(answer)
    if (answer.status === 401 && noOf(answer).outcome === 'refused') throw new AccessExpired('YouTube')
    throw new Error(`YouTube did not tell its figures: ${noOf(answer).detail}`)
  }
  return {
    async figures(from, ids) {
      const figures = new Map<string, Figures>()
      for (let at = 0; at < ids.length; at += mostAtOnce) {
        const query = new URLSearchParams({ part: 'statistics', maxResults: String(mostAtOnce), id: ids.slice(at, at + mostAtOnce).join(',') })
        const { items = [] } = await told<Counted>(from, `youtube/v3/videos?${query}`)
        for (const { id, statistics: counted } of items)
          if (counted)
            figures.set(id, {
              impressions: null,
              likes: numberIn(counted.likeCount),
              comments: numberIn(counted.commentCount),
              shares: null,
              clicks: null,
              videoViews: numberIn(counted.viewCount),
            })
      }
      return figures
    },

    async followers(from) {
      const { items = [] } = await told<Channels>(from, 'youtube/v3/channels?part=statistics&mine=true')
      const counted = items[0]?.statistics
      return counted?.hiddenSubscriberCount ? null : numberIn(counted?.subscriberCount)
    },
  }
}
