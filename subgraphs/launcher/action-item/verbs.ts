import { DomainError } from '../../../platform/errors.ts'
import { readId, readText, requireId } from '../../../platform/ids.ts'
import type { AuditLine } from '../../store/books.ts'
import { notFound } from '../../store/store.ts'
import { change, checkVersion, write } from '../../store/write.ts'
import { actorOf, anonymous, requirePerson } from '../../viewer.ts'
import { RightsOfAssigneeDocument } from '../ask.generated.ts'
import type { Context } from '../context.ts'
import { serviceApp } from '../engines/notify/inbound.ts'
import { registration } from '../registration.ts'
import type { AssignActionItemInput, CompleteActionItemInput, ReopenActionItemInput, SnoozeActionItemInput } from '../resolvers.generated.ts'
import type { ActionItemRow } from '../stores/inbox/action-item.ts'
import { announceItem, announceSnooze, completing, isSeenBy, max, reopening, requireCause, requireMayChange, requireOwnItem, requireSnooze } from './rules.ts'

type Expected = number | null | undefined

const lineOf = (action: `action_item.${string}`, { id, organizationId, userId }: ActionItemRow, details?: AuditLine['details']): AuditLine => ({
  tenantId: organizationId ?? userId!,
  action,
  subjectId: id,
  ...(details && { details }),
})

/**
 * Has the notification service complete an item of its own, before it is done here: what it refuses stays open.
 * @throws UPSTREAM_FAILED; CONFLICT for a stale version
 */
async function completeAtService({ viewer, actionItems, notificationService }: Context, item: ActionItemRow, expectedVersion: Expected): Promise<void> {
  if (item.app !== serviceApp || item.status !== 'OPEN') return
  checkVersion(item.version, expectedVersion, actionItems.what)
  await notificationService?.complete(item.key, viewer.userId)
}

/** Marks an item as done. */
export async function complete(context: Context, { id, note: given, expectedVersion }: CompleteActionItemInput): Promise<ActionItemRow> {
  const { viewer, actionItems, snoozes, events } = context
  requireMayChange(viewer)
  const note = readText(given, 'note', max.note)
  await completeAtService(context, await actionItems.require(id), expectedVersion)
  return change(context, {
    of: actionItems,
    id,
    expectedVersion,
    async decide(item, { now, transaction }) {
      const changes = completing(item, now, actorOf(viewer))
      if (changes.status) await snoozes.forget(item.id, transaction)
      return changes
    },
    audit: ({ after }) => lineOf('action_item.completed', after, note === null ? undefined : { note }),
    announce: ({ after }) => announceItem(events, after),
  })
}

/** Takes back that an item is done. */
export async function reopen(context: Context, { id, expectedVersion }: ReopenActionItemInput): Promise<ActionItemRow> {
  const { viewer, actionItems, events, notificationService } = context
  requireMayChange(viewer)
  return change(context, {
    of: actionItems,
    id,
    expectedVersion,
    decide(item) {
      if (notificationService) requireOwnItem(item, serviceApp)
      return reopening(item)
    },
    audit: ({ after }) => lineOf('action_item.reopened', after),
    announce: ({ after }) => announceItem(events, after),
  })
}

/** Checks that somebody sees an item. @throws BAD_USER_INPUT for anybody else, the same whether the person exists or not */
async function requireSeer({ ask, leaving }: Context, item: ActionItemRow, assigneeId: string): Promise<void> {
  const { organizationId } = item
  const asking = { appId: registration.appId, viewer: anonymous, signal: leaving }
  const rights = organizationId === null ? null : (await ask(RightsOfAssigneeDocument, { userId: assigneeId, organizationId }, asking)).memberRights
  if (isSeenBy(item, assigneeId, rights?.roles.map(role => role.toLowerCase()) ?? null)) return
  throw new DomainError('BAD_USER_INPUT', 'assigneeId is nobody who sees this item: take a member who does.', { field: 'assigneeId' })
}

/** Names who is to see to an item. */
export async function assign(context: Context, { id, assigneeId: given, expectedVersion }: AssignActionItemInput): Promise<ActionItemRow> {
  const { viewer, actionItems, events } = context
  requireMayChange(viewer)
  const assigneeId = readId(given, 'assigneeId')
  // Identity is asked before the row is locked, because waiting for it holds a connection.
  const seen = await actionItems.require(id)
  if (assigneeId !== null) await requireSeer(context, seen, assigneeId)
  return change(context, {
    of: actionItems,
    id,
    expectedVersion,
    decide(item) {
      requireCause(item)
      return { assigneeId }
    },
    audit: ({ after }) => lineOf('action_item.assigned', after, { assigneeId }),
    announce: ({ after }) => announceItem(events, after),
  })
}

/** Hides an item from the viewer until a moment, or shows it again. */
export async function snooze(context: Context, { id, until, expectedVersion }: SnoozeActionItemInput): Promise<ActionItemRow> {
  const { viewer, actionItems, snoozes, events, snoozeAlarm } = context
  const userId = requirePerson(viewer)
  const key = requireId(id, 'id')
  const at = until ?? null
  const { item } = await write(context, {
    async run({ transaction, now }) {
      const item = await actionItems.lock(key, transaction)
      if (!item) throw notFound(actionItems.what, key)
      checkVersion(item.version, expectedVersion, actionItems.what)
      if (at === null) {
        requireCause(item)
        await snoozes.wake(userId, key, now, transaction)
      } else {
        requireSnooze(item, at, await snoozes.count(userId, now, transaction), now)
        await snoozes.put(userId, key, at, now, transaction)
      }
      return { item, updatedAt: now }
    },
    announce: ({ item, updatedAt }) => announceSnooze(events, { userId, itemId: item.id, organizationId: item.organizationId, updatedAt }),
  })
  if (at) snoozeAlarm.at(at)
  return item
}
