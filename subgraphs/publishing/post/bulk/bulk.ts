import { codeOf, Refusal } from '../../../../platform/errors.ts'
import type { Context } from '../../context.ts'
import type { PostRow } from '../../stores/post.ts'

/** What became of one of several. */
export interface BulkResult {
  readonly id: string
  /** The post's present state; a deleted one as it was. Null when it was refused. */
  readonly post: PostRow | null
  readonly error: { readonly code: string; readonly message: string } | null
}

export interface BulkReport {
  readonly results: readonly BulkResult[]
  readonly succeeded: number
  readonly failed: number
}

/** How many may be changed at once. */
export const mostItems = 100

/**
 * Does the same with several posts, one after the other, each on its own: one that is refused leaves the others as they are.
 * @throws BAD_USER_INPUT for none, and for too many
 */
export async function each<Item extends { readonly id: string }>(
  { log }: Pick<Context, 'log'>,
  items: readonly Item[],
  one: (item: Item) => Promise<PostRow>,
): Promise<BulkReport> {
  if (items.length < 1 || items.length > mostItems)
    throw new Refusal('BAD_USER_INPUT', `items has ${items.length} entries: it takes 1 to ${mostItems}.`, { field: 'items' })
  const results: BulkResult[] = []
  for (const item of items) {
    try {
      results.push({ id: item.id, post: await one(item), error: null })
    } catch (error) {
      const code = codeOf(error)
      if (code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, postId: item.id }, 'post of a bulk change could not be changed')
      const message = code === 'INTERNAL_SERVER_ERROR' ? 'Something went wrong here: try this one again.' : (error as Refusal).message
      results.push({ id: item.id, post: null, error: { code, message } })
    }
  }
  const failed = results.filter(({ error }) => error).length
  return { results, succeeded: results.length - failed, failed }
}
