import { newId } from '../../../platform/ids.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { type ItemWriting, type Posting, postNotice } from '../engines/notify/notify.ts'
import type { ActionItemRow } from '../stores/inbox/action-item.ts'
import { announceItem, isNews, type Opened, opening } from './rules.ts'

/** A service's item, locked; null while there is none with its key. */
export interface Known {
  /** Slug of the service. */
  readonly from: string
  readonly key: string
  readonly present: ActionItemRow | null
}

/** Opens an item, or reopens it. @returns a function that notifies its viewers */
export async function openItem(context: ItemWriting, { from, key, present }: Known, opened: Opened, unit: WriteTransaction): Promise<(() => void) | undefined> {
  if (present) {
    const changes = opening(present, opened)
    const announce = await changeItem(context, present, changes, unit)
    return changes && isNews(present, opened) ? both(announce, await postItem(context, { ...present, ...changes }, unit)) : announce
  }
  const { transaction, now } = unit
  const stamps = { createdAt: now, updatedAt: now, createdBy: `service:app_${from}` }
  const item = await context.actionItems.insert({ id: newId(now), app: from, key, status: 'OPEN', ...opened, ...stamps }, transaction)
  return both(() => announceItem(context.events, item), await postItem(context, item, unit))
}

const both = (first: (() => void) | undefined, second: (() => void) | undefined) => () => {
  first?.()
  second?.()
}

/** Has those who see an item mailed and sent push messages, as they want. */
async function postItem(context: Posting, item: ActionItemRow, unit: WriteTransaction): Promise<(() => void) | undefined> {
  const { id, organizationId, audience, userId, app, kind, title, body, url, severity } = item
  // What belongs to the platform is listed for its managers alone, and identity does not say who they are.
  if (organizationId === null && audience !== 'person') return undefined
  return postNotice(context, { organizationId, audience, userId, app, kind, title, body, url, severity, scope: null, itemId: id }, unit)
}

/** Writes the changes of an item. @returns a function that notifies its viewers */
export async function changeItem(
  { actionItems, events, snoozes }: ItemWriting,
  item: ActionItemRow,
  changes: Partial<ActionItemRow> | null,
  { transaction, now }: WriteTransaction,
): Promise<(() => void) | undefined> {
  if (!changes) return undefined
  // Opened again, it is new to everybody.
  if (item.status === 'OPEN' && changes.status && changes.status !== 'OPEN') await snoozes.forget(item.id, transaction)
  const after = await actionItems.update(item, { ...changes, updatedAt: now, version: item.version + 1 }, transaction)
  return () => announceItem(events, after)
}

/**
 * Frees the items that are assigned to somebody who no longer sees them.
 * @param all whether of the whole organization, or only those for its managers
 * @returns a function that notifies their viewers
 */
export async function freeItems(context: ItemWriting, userId: string, organizationId: string, all: boolean, unit: WriteTransaction): Promise<() => void> {
  const assigned = await context.actionItems.lockAssigned(userId, organizationId, all, unit.transaction)
  const announcements: ((() => void) | undefined)[] = []
  for (const item of assigned) announcements.push(await changeItem(context, item, { assigneeId: null }, unit))
  return () => {
    for (const announce of announcements) announce?.()
  }
}
