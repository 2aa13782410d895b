import { newId } from '../../../../platform/ids.ts'
import type { AuditLine, WriteTransaction } from '../../../store/books.ts'
import { openItem } from '../../action-item/items.ts'
import type { Context } from '../../context.ts'
import type { ItemWriting } from '../../engines/notify/notify.ts'
import { registration } from '../../registration.ts'
import type { AccessRequestRow } from '../../stores/access-request.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'
import { keyOf, waiting } from './rules.ts'

/** What requests are written with: the context of a viewer, or of a job. */
export type RequestWriting = ItemWriting & Pick<Context, 'publicUrl'> & { readonly accessRequests: Pick<Context['accessRequests'], 'insert'> }

/** Who asks for an app, for which organization, and why. */
export interface Requester {
  readonly organizationId: string
  /** The person, and their name where it is known; null for a key or a service. */
  readonly userId: string | null
  readonly name: string | null
  /** As audit entries name the caller. */
  readonly actor: string
  readonly reason: string | null
}

/** A request that was made now, or stood already. */
export interface Requested {
  readonly row: AccessRequestRow
  /** Notifies the viewers of the request's action item; undefined for a request that stood already. */
  readonly announce?: (() => void) | undefined
}

/** Writes a request for an app, and the action item by which managers see it. @param id of the new request */
export async function writeRequest(
  context: RequestWriting,
  entry: Pick<CatalogEntryRow, 'app' | 'title'>,
  { organizationId, userId, name, actor, reason }: Requester,
  unit: WriteTransaction,
  id = newId(unit.now),
): Promise<Requested> {
  const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: actor }
  const made = { id, organizationId, app: entry.app, reason, status: 'PENDING' as const, requestedBy: userId, ...stamps }
  const row = await context.accessRequests.insert(made, unit.transaction)
  const item = { from: registration.slug, key: keyOf(row), present: null }
  return { row, announce: await openItem(context, item, waiting(row, entry, name, unit.now, context.publicUrl), unit) }
}

/** The audit entry of a change to a request. */
export const lineOf = (action: `access_request.${string}`, { organizationId, id, app }: AccessRequestRow): AuditLine => ({
  tenantId: organizationId,
  action,
  subjectId: id,
  details: { app },
})
