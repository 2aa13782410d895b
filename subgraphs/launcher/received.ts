import { newId } from '../../platform/ids.ts'
import type { Unit } from '../store/books.ts'
import type { Receives } from '../store/facts.ts'
import { announceItem, openedBy, opening, resolving } from './action-item/rules.ts'
import type { Job } from './context.ts'
import type { ActionItemRow } from './stores/action-item.ts'

/** What the launcher does with the facts of others. */
export const received: Receives<'launcher', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // An organization begins with nothing that waits for somebody.
  'organization.created': async () => {},
  // Who sees what is asked of the viewer, each time, and who has which seat is not kept yet.
  'membership.added': async () => {},
  'membership.changed': async () => {},
  'membership.removed': async () => {},
  // What it shows of services it asks the registry for, each minute.
  'service.registered': async () => {},
  // Nobody's name is kept here.
  'user.updated': async () => {},
  'user.suspended': async () => {},
  // Nobody is notified of anything yet.
  'order.paid': async () => {},
  'order.refunded': async () => {},
  'budget.alert': async () => {},

  async 'attention.opened'({ from, body }, job, unit) {
    const { actionItems } = job
    const { transaction, now } = unit
    const opened = openedBy(body)
    const present = await actionItems.lockKey(from, body.key, transaction)
    if (present) return change(job, present, opening(present, opened), unit)
    const stamps = { createdAt: now, updatedAt: now, createdBy: `service:app_${from}` }
    const item = await actionItems.insert({ id: newId(now), app: from, key: body.key, status: 'OPEN', ...opened, ...stamps }, transaction)
    return () => announceItem(job.events, item)
  },

  async 'attention.closed'({ from, at, body }, job, unit) {
    const present = await job.actionItems.lockKey(from, body.key, unit.transaction)
    return present ? change(job, present, resolving(present, at), unit) : undefined
  },
}

/** Writes what becomes of an item. @returns what tells those who see it */
async function change(job: Job, item: ActionItemRow, changes: Partial<ActionItemRow> | null, { transaction, now }: Unit): Promise<(() => void) | undefined> {
  if (!changes) return undefined
  const after = await job.actionItems.update(item, { ...changes, updatedAt: now, version: item.version + 1 }, transaction)
  return () => announceItem(job.events, after)
}
