import { codeOf, DomainError } from '../../../../platform/errors.ts'
import type { Context } from '../../context.ts'
import type { PostRow } from '../../stores/post.ts'

/** Result for one of several posts. */
export interface BulkResult {
  readonly id: string
  /** The post's present state, or its last one when deleted; null when the change was rejected. */
  readonly post: PostRow | null
  readonly error: { readonly code: string; readonly message: string } | null
}

export interface BulkReport {
  readonly results: readonly BulkResult[]
  readonly succeeded: number
  readonly failed: number
}

/** Maximum number of posts that are changed at once. */
export const mostItems = 100

/**
 * Makes the same change to several posts, one after the other, each in its own transaction: an error for one leaves the
 * others unaffected.
 * @throws BAD_USER_INPUT for an empty list, and for too many posts
 */
export async function each<Item extends { readonly id: string }>(
  { log }: Pick<Context, 'log'>,
  items: readonly Item[],
  one: (item: Item) => Promise<PostRow>,
): Promise<BulkReport> {
  if (items.length < 1 || items.length > mostItems)
    throw new DomainError('BAD_USER_INPUT', `items has ${items.length} entries: it takes 1 to ${mostItems}.`, { field: 'items' })
  const results: BulkResult[] = []
  for (const item of items) {
    try {
      results.push({ id: item.id, post: await one(item), error: null })
    } catch (error) {
      const code = codeOf(error)
      if (code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, postId: item.id }, 'post of a bulk change could not be changed')
      const message = code === 'INTERNAL_SERVER_ERROR' ? 'This one failed on our side: try it again.' : (error as DomainError).message
      results.push({ id: item.id, post: null, error: { code, message } })
    }
  }
  const failed = results.filter(({ error }) => error).length
  return { results, succeeded: results.length - failed, failed }
}
