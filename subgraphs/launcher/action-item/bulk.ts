import { codeOf, DomainError } from '../../../platform/errors.ts'
import type { Context } from '../context.ts'
import type { ActionItemRow } from '../stores/inbox/action-item.ts'
import { max } from './rules.ts'

/** Result for one of several items. */
interface BulkResult {
  readonly id: string
  /** Null when the change was refused. */
  readonly item: ActionItemRow | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/**
 * Makes the same change to several items, one after the other, each in its own transaction: an error for one leaves the
 * others unaffected.
 * @throws BAD_USER_INPUT for an empty list, and for too many items
 */
export async function each({ log }: Pick<Context, 'log'>, ids: readonly string[], one: (id: string) => Promise<ActionItemRow>) {
  if (ids.length < 1 || ids.length > max.items)
    throw new DomainError('BAD_USER_INPUT', `ids has ${ids.length} entries: it takes 1 to ${max.items}.`, { field: 'ids' })
  const results: BulkResult[] = []
  for (const id of ids) {
    try {
      results.push({ id, item: await one(id), error: null })
    } catch (error) {
      const code = codeOf(error)
      if (code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, itemId: id }, 'action item of a bulk change could not be changed')
      const message = code === 'INTERNAL_SERVER_ERROR' ? 'Something went wrong here: try this one again.' : (error as DomainError).message
      results.push({ id, item: null, error: { code, message } })
    }
  }
  const failed = results.filter(({ error }) => error).length
  return { results, succeeded: results.length - failed, failed }
}
