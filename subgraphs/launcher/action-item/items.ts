import { newId } from '../../../platform/ids.ts'
import type { Unit } from '../../store/books.ts'
import type { Context } from '../context.ts'
import type { ActionItemRow } from '../stores/action-item.ts'
import { announceItem, type Opened, opening } from './rules.ts'

/** What items are written with: the context of a viewer, or of a job. */
export type ItemWriting = Pick<Context, 'actionItems' | 'events'>

/** A service's item, locked; null while there is none with its key. */
export interface Known {
  /** Slug of the service. */
  readonly from: string
  readonly key: string
  readonly present: ActionItemRow | null
}

/** Opens an item, or reopens it. @returns a function that notifies its viewers */
export async function openItem(context: ItemWriting, { from, key, present }: Known, opened: Opened, unit: Unit): Promise<(() => void) | undefined> {
  if (present) return changeItem(context, present, opening(present, opened), unit)
  const { transaction, now } = unit
  const stamps = { createdAt: now, updatedAt: now, createdBy: `service:app_${from}` }
  const item = await context.actionItems.insert({ id: newId(now), app: from, key, status: 'OPEN', ...opened, ...stamps }, transaction)
  return () => announceItem(context.events, item)
}

/** Writes the changes of an item. @returns a function that notifies its viewers */
export async function changeItem(
  { actionItems, events }: ItemWriting,
  item: ActionItemRow,
  changes: Partial<ActionItemRow> | null,
  { transaction, now }: Unit,
): Promise<(() => void) | undefined> {
  if (!changes) return undefined
  const after = await actionItems.update(item, { ...changes, updatedAt: now, version: item.version + 1 }, transaction)
  return () => announceItem(events, after)
}
