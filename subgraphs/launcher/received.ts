import type { Receives } from '../store/facts.ts'
import { alerting, keyOfAlert } from './action-item/budget.ts'
import { changeItem, freeItems, openItem } from './action-item/items.ts'
import { openedBy, resolving } from './action-item/rules.ts'
import type { Job } from './context.ts'
import { postNotice } from './engines/notify/notify.ts'
import { budgetNotice, orderNotice } from './notification/rules.ts'
import { isManager } from './stores/inbox/action-item.ts'

/** What identity calls the organization that looks after the platform. */
const slugOfPlatform = 'admin'

/** The launcher's handlers for facts of other subgraphs. */
export const received: Receives<'launcher', Job> = {
  // What became of its mails is kept by the gateway.
  'email.outcome': async () => {},
  // The organization that looks after the platform needs no bundle.
  async 'organization.created'({ body: { organizationId, slug } }, { entitlements }, { transaction }) {
    if (slug === slugOfPlatform) await entitlements.learnPlatform(organizationId, transaction)
  },
  async 'membership.added'({ body: { organizationId } }, { seats, seatAlarm }, { transaction, now }) {
    return (await seats.wake(organizationId, now, transaction)) ? () => seatAlarm.ring() : undefined
  },
  async 'membership.changed'({ body: { userId, organizationId, roles } }, job, unit) {
    if (isManager({ roles })) return undefined
    await job.messages.forget(userId, organizationId, false, unit.transaction)
    return freeItems(job, userId, organizationId, false, unit)
  },
  async 'membership.removed'({ body: { userId, organizationId } }, job, unit) {
    await job.messages.forget(userId, organizationId, true, unit.transaction)
    const announce = await freeItems(job, userId, organizationId, true, unit)
    const hasSeats = await job.seats.wake(organizationId, unit.now, unit.transaction)
    return () => {
      announce()
      if (hasSeats) job.seatAlarm.ring()
    }
  },
  async 'service.registered'(_, { catalog }) {
    return () => catalog.wake()
  },
  // Of names, the launcher stores those of members of households alone.
  'user.updated': ({ body: { userId, name } }, job, { transaction }) => job.households.rename(userId, name, transaction),
  async 'user.suspended'({ body: { userId } }, job, { transaction }) {
    await job.messages.forget(userId, null, true, transaction)
    await job.pushSubscriptions.endAll(userId, transaction)
  },
  'order.paid': ({ body }, job, unit) => postNotice(job, orderNotice('order.paid', body, job.publicUrl), unit),
  'order.refunded': ({ body }, job, unit) => postNotice(job, orderNotice('order.refunded', body, job.publicUrl), unit),

  async 'budget.alert'({ from, at, body }, job, unit) {
    const key = keyOfAlert(body)
    const present = await job.actionItems.lockKey(from, key, unit.transaction)
    const opened = alerting(present, body, at, job.publicUrl)
    const announceItem = opened && (await openItem(job, { from, key, present }, opened, unit))
    const deliver = await postNotice(job, budgetNotice(body, job.publicUrl), unit)
    return () => {
      announceItem?.()
      deliver()
    }
  },

  async 'attention.opened'({ from, body }, job, unit) {
    const present = await job.actionItems.lockKey(from, body.key, unit.transaction)
    return openItem(job, { from, key: body.key, present }, openedBy(body), unit)
  },

  async 'attention.closed'({ from, at, body }, job, unit) {
    const present = await job.actionItems.lockKey(from, body.key, unit.transaction)
    return present ? changeItem(job, present, resolving(present, at), unit) : undefined
  },
}
