import { newId } from '../../platform/ids.ts'
import type { Unit } from '../store/books.ts'
import type { Receives } from '../store/facts.ts'
import { alerting, keyOfAlert } from './action-item/budget.ts'
import { announceItem, type Opened, openedBy, opening, resolving } from './action-item/rules.ts'
import type { Job } from './context.ts'
import type { ActionItemRow } from './stores/action-item.ts'

/** What the launcher does with the facts of others. */
export const received: Receives<'launcher', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // A new organization has no action items.
  'organization.created': async () => {},
  // Visibility is checked against the viewer each time, and seats are not stored yet.
  'membership.added': async () => {},
  'membership.changed': async () => {},
  'membership.removed': async () => {},
  // Services are read from the registry every minute.
  'service.registered': async () => {},
  // The launcher stores no names.
  'user.updated': async () => {},
  'user.suspended': async () => {},
  // The launcher sends no notifications yet.
  'order.paid': async () => {},
  'order.refunded': async () => {},

  async 'budget.alert'({ from, at, body }, job, unit) {
    const key = keyOfAlert(body)
    const present = await job.actionItems.lockKey(from, key, unit.transaction)
    const opened = alerting(present, body, at, job.publicUrl)
    return opened ? open(job, { from, key, present }, opened, unit) : undefined
  },

  async 'attention.opened'({ from, body }, job, unit) {
    const present = await job.actionItems.lockKey(from, body.key, unit.transaction)
    return open(job, { from, key: body.key, present }, openedBy(body), unit)
  },

  async 'attention.closed'({ from, at, body }, job, unit) {
    const present = await job.actionItems.lockKey(from, body.key, unit.transaction)
    return present ? change(job, present, resolving(present, at), unit) : undefined
  },
}

/** An item that a service knows by a key, under lock; null while there is none. */
interface Known {
  readonly from: string
  readonly key: string
  readonly present: ActionItemRow | null
}

/** Opens an item, or opens it again. @returns what tells those who see it */
async function open(job: Job, { from, key, present }: Known, opened: Opened, unit: Unit): Promise<(() => void) | undefined> {
  if (present) return change(job, present, opening(present, opened), unit)
  const { transaction, now } = unit
  const stamps = { createdAt: now, updatedAt: now, createdBy: `service:app_${from}` }
  const item = await job.actionItems.insert({ id: newId(now), app: from, key, status: 'OPEN', ...opened, ...stamps }, transaction)
  return () => announceItem(job.events, item)
}

/** Writes the changes of an item. @returns what tells those who see it */
async function change(job: Job, item: ActionItemRow, changes: Partial<ActionItemRow> | null, { transaction, now }: Unit): Promise<(() => void) | undefined> {
  if (!changes) return undefined
  const after = await job.actionItems.update(item, { ...changes, updatedAt: now, version: item.version + 1 }, transaction)
  return () => announceItem(job.events, after)
}
