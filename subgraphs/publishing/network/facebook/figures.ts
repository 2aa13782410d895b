import { type Graph, tellOf } from '../meta/graph.ts'
import type { Figures } from '../network.ts'
import { title } from './posts.ts'

/** Number of posts per request for figures. */
const figuresAtOnce = 5

/**
 * Returns figures without impressions, clicks and views: these need the scope read_insights, which we do not request.
 */
export async function figuresOf(graph: Graph, token: string, ids: readonly string[]): Promise<ReadonlyMap<string, Figures>> {
  const figures = new Map<string, Figures>()
  interface Counted {
    readonly reactions?: { readonly summary?: { readonly total_count?: number } }
    readonly comments?: { readonly summary?: { readonly total_count?: number } }
    readonly shares?: { readonly count?: number }
  }
  const fields = 'reactions.limit(0).summary(total_count),comments.limit(0).summary(total_count),shares'
  for (let at = 0; at < ids.length; at += figuresAtOnce)
    await Promise.all(
      ids.slice(at, at + figuresAtOnce).map(async id => {
        const answer = await graph.get<Counted>(`/${id}`, { fields, access_token: token })
        if (answer.error?.code === 100) return
        const { reactions, comments, shares } = tellOf(title, answer)
        const counted = { likes: reactions?.summary?.total_count ?? null, comments: comments?.summary?.total_count ?? null, shares: shares?.count ?? 0 }
        figures.set(id, { impressions: null, clicks: null, videoViews: null, ...counted })
      }),
    )
  return figures
}
