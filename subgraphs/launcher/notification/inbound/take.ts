import type { WriteTransaction, Writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import { changeItem, openItem } from '../../action-item/items.ts'
import { resolving } from '../../action-item/rules.ts'
import { type ServiceItem, type ServiceMessage, serviceApp } from '../../engines/notify/inbound.ts'
import { type ItemWriting, postNotice } from '../../engines/notify/notify.ts'
import type { NotificationService } from '../../engines/notify/upstream.ts'
import type { ServiceMessageStore } from '../../stores/inbox/service-message.ts'
import { isStale, openedItem, sentNotice } from './rules.ts'

/** What items of the notification service are taken with. */
export interface ServiceWork extends Writing, ItemWriting {
  readonly serviceMessages: ServiceMessageStore
  readonly dashboardUrl: string
}

const actionsUrl = (dashboardUrl: string): string => `${dashboardUrl}/actions`

/** What the service says of an item at a moment. */
interface SaidItem {
  readonly type: 'item.opened' | 'item.closed'
  readonly item: ServiceItem
  readonly at: Date
}

/** Opens or closes an item as the service says, unless that is old by now. @returns a function that notifies its viewers */
async function takeItem(job: ServiceWork, { type, item, at }: SaidItem, unit: WriteTransaction): Promise<(() => void) | undefined> {
  await job.serviceMessages.lockItem(item.id, unit.transaction)
  const present = await job.actionItems.lockKey(serviceApp, item.id, unit.transaction)
  if (isStale(present, type, at)) return undefined
  if (type === 'item.closed') return changeItem(job, present!, resolving(present!, at), unit)
  return openItem(job, { from: serviceApp, key: item.id, present }, openedItem(item, at, actionsUrl(job.dashboardUrl)), unit)
}

/** Takes a message of the service, once for each id. */
export async function takeMessage(job: ServiceWork, id: string, { type, timestamp, data }: ServiceMessage): Promise<void> {
  await write(job, {
    async run(unit) {
      if (!(await job.serviceMessages.isFirst(id, unit.now, unit.transaction))) return null
      const isNews = type === 'notification.sent'
      return { announce: await (isNews ? postNotice(job, sentNotice(data), unit) : takeItem(job, { type, item: data, at: new Date(timestamp) }, unit)) }
    },
    announce: ({ announce }) => announce?.(),
  })
}

/**
 * Takes what is open at the service as a whole: opens what is missing, changes what differs, and closes what is not open
 * there any more. What changed while it was read is left to the next reading.
 */
export async function takeOpen(job: ServiceWork, service: NotificationService, clock: { now(): Date }): Promise<void> {
  const before = clock.now()
  const { items, unreadable } = await service.open()
  const known = new Map((await job.serviceMessages.openItems()).map(each => [each.key, each]))
  const take = (said: SaidItem) =>
    write(job, {
      async run(unit) {
        const present = await job.actionItems.lockKey(serviceApp, said.item.id, unit.transaction)
        return present && present.updatedAt >= before ? null : { announce: await takeItem(job, said, unit) }
      },
      announce: ({ announce }) => announce?.(),
    })
  for (const item of items) {
    const present = known.get(item.id)
    const opened = openedItem(item, before, actionsUrl(job.dashboardUrl))
    if (present && isSame(present, opened)) continue
    await take({ type: 'item.opened', item, at: opened.openedAt })
  }
  // One that cannot be read any more is open still, and stays as it is known.
  const open = new Set([...items.map(({ id }) => id), ...unreadable])
  for (const { key, title, organizationId, userId } of known.values()) {
    if (open.has(key)) continue
    const item = { id: key, title, organizationId, userId, kind: null, body: null, url: null, severity: null, at: null, dueAt: null, scope: null }
    await take({ type: 'item.closed', item, at: before })
  }
}

/** Whether an item is as the service has it. */
const isSame = (present: object, opened: object): boolean =>
  Object.entries(opened).every(([name, value]) => {
    // Without a moment of its own it opened when it was first seen.
    if (name === 'openedAt') return true
    const known = (present as Readonly<Record<string, unknown>>)[name]
    return known instanceof Date && value instanceof Date ? known.getTime() === value.getTime() : known === value
  })
