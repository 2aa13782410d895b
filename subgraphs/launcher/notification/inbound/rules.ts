import type { Opened } from '../../action-item/rules.ts'
import { type ServiceItem, serviceApp } from '../../engines/notify/inbound.ts'
import type { Notice } from '../../engines/notify/notify.ts'
import type { ActionItemRow } from '../../stores/inbox/action-item.ts'

const placeOf = ({ organizationId, userId }: ServiceItem) => ({
  organizationId,
  userId,
  audience: userId === null ? ('organization' as const) : ('person' as const),
})

/**
 * Returns the action item of an item of the service.
 * @param at when the service said so: an item without a moment of its own opened then
 * @param actionsUrl where it is seen to that has no address of its own
 */
export const openedItem = (given: ServiceItem, at: Date, actionsUrl: string): Opened => ({
  ...placeOf(given),
  ...{ kind: given.kind ?? 'TASK', severity: given.severity ?? 'NORMAL', subjectId: given.id, title: given.title, body: given.body },
  url: given.url ?? actionsUrl,
  dueAt: given.dueAt === null ? null : new Date(given.dueAt),
  openedAt: given.at === null ? at : new Date(given.at),
})

/** Returns the notice of news. */
export const sentNotice = (given: ServiceItem): Notice => ({
  ...placeOf(given),
  ...{ app: serviceApp, kind: given.kind ?? 'notification.sent', severity: given.severity ?? 'NORMAL' },
  ...{ title: given.title, body: given.body, url: given.url, scope: given.scope },
})

/**
 * Whether what the service says of an item is older than what is known: its messages may come late, and again.
 * @param saidAt when it said so
 */
export function isStale(present: Pick<ActionItemRow, 'status' | 'openedAt' | 'closedAt'> | null, type: 'item.opened' | 'item.closed', saidAt: Date): boolean {
  if (present === null) return type === 'item.closed'
  return type === 'item.opened' ? present.closedAt !== null && saidAt <= present.closedAt : saidAt < present.openedAt
}
