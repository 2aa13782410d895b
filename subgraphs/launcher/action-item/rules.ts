import { DomainError } from '../../../platform/errors.ts'
import type { Events } from '../../../platform/events.ts'
import type { Scope } from '../../scopes.ts'
import type { FactBody } from '../../store/fact-kinds.ts'
import type { Viewer } from '../../viewer.ts'
import { type ActionItemRow, audienceKeyOf, audienceKeysOf, isManager, type Place } from '../stores/inbox/action-item.ts'
import type { Severity } from '../stores/inbox/action-item-list.ts'

/** Default severities of items, by kind; kinds that are not listed are NORMAL. */
const severities: Readonly<Record<string, Severity>> = {
  PAYMENT_UNKNOWN: 'CRITICAL',
  DISPUTE: 'CRITICAL',
  BUDGET_EXHAUSTED: 'CRITICAL',
  POST_FAILED: 'HIGH',
  OUTCOME_UNKNOWN: 'HIGH',
  CONNECTION_BROKEN: 'HIGH',
  STEP_UNKNOWN: 'HIGH',
  CREDENTIAL_FAILING: 'HIGH',
  WEBHOOK_DEAD: 'HIGH',
  CALLBACK_DEAD: 'HIGH',
  SUBSCRIPTION_PAST_DUE: 'HIGH',
  MODEL_DEPRECATED: 'LOW',
}

/** Contents of an item, from the fact of its service. */
export type Opened = Pick<
  ActionItemRow,
  'kind' | 'severity' | 'organizationId' | 'audience' | 'userId' | 'subjectId' | 'title' | 'body' | 'url' | 'dueAt' | 'openedAt'
>

export const openedBy = (told: FactBody<'attention.opened'>): Opened => ({
  kind: told.kind,
  severity: told.severity ?? severities[told.kind] ?? 'NORMAL',
  organizationId: told.organizationId,
  audience: told.audience,
  userId: told.userId ?? null,
  subjectId: told.subjectId,
  title: told.title,
  body: told.body ?? null,
  url: told.url,
  dueAt: told.dueAt ? new Date(told.dueAt) : null,
  openedAt: new Date(told.at),
})

/**
 * Returns the changes when a service opens an existing item again; null for none. An item that a person completed stays
 * closed unless the cause returned afterwards. An item closed by its service reopens whatever the service's clock says:
 * facts of one item arrive in order.
 */
export function opening(present: ActionItemRow, opened: Opened): Partial<ActionItemRow> | null {
  if (present.status === 'DONE' && opened.openedAt <= present.closedAt!) return null
  const isSeenByOthers = audienceKeyOf(present) !== audienceKeyOf(opened)
  return { ...opened, status: 'OPEN', closedAt: null, closedBy: null, ...(isSeenByOthers && { assigneeId: null }) }
}

/** Whether people are told when a service opens an item again: it was closed, or is CRITICAL now. */
export const isNews = (present: Pick<ActionItemRow, 'status' | 'severity'>, { severity }: Pick<Opened, 'severity'>): boolean =>
  present.status !== 'OPEN' || (severity === 'CRITICAL' && present.severity !== 'CRITICAL')

/** Returns the changes when an item's cause is gone; null when it is resolved already. */
export const resolving = ({ status }: Pick<ActionItemRow, 'status'>, at: Date): Partial<ActionItemRow> | null =>
  status === 'RESOLVED' ? null : { status: 'RESOLVED', closedAt: at, closedBy: null }

/** Checks that an item's cause is not gone. @throws CONFLICT, reason RESOLVED */
export function requireCause({ status }: Pick<ActionItemRow, 'status'>): void {
  if (status === 'RESOLVED')
    throw new DomainError('CONFLICT', 'Its cause is gone, so there is nothing left to do: read the list again.', { reason: 'RESOLVED' })
}

/**
 * Returns the changes when a person marks an item as done.
 * @throws CONFLICT, reason RESOLVED, when its cause is gone
 */
export function completing(item: Pick<ActionItemRow, 'status'>, now: Date, actor: string): Partial<ActionItemRow> {
  requireCause(item)
  return item.status === 'DONE' ? {} : { status: 'DONE', closedAt: now, closedBy: actor }
}

/** Returns the changes when a person takes back that an item is done. @throws CONFLICT, reason RESOLVED, when its cause is gone */
export function reopening(item: Pick<ActionItemRow, 'status'>): Partial<ActionItemRow> {
  requireCause(item)
  return item.status === 'OPEN' ? {} : { status: 'OPEN', closedAt: null, closedBy: null }
}

/** Checks that an item is not kept by another app, which has closed it there. @throws CONFLICT, reason RESOLVED */
export function requireOwnItem({ app, status }: Pick<ActionItemRow, 'app' | 'status'>, keptBy: string): void {
  if (app === keptBy && status !== 'OPEN')
    throw new DomainError('CONFLICT', 'The notification service has closed it: it opens the item again when there is something to do.', { reason: 'RESOLVED' })
}

/** Whether somebody in an item's organization sees it. @param roles within that organization; null for no member */
export function isSeenBy({ audience, userId, organizationId }: Place, somebody: string, roles: readonly string[] | null): boolean {
  if (audience === 'person') return userId === somebody && (organizationId === null || roles !== null)
  return roles !== null && (audience === 'organization' || isManager({ roles }))
}

/** Maximum time ahead of a snooze in ms, maximum snoozed items of a person, characters of a note, and items that are completed at once. */
export const max = { snoozeMs: 30 * 86_400_000, snoozed: 500, note: 500, items: 100 } as const

/**
 * Checks a snooze.
 * @param snoozed number of items that the person has snoozed
 * @throws BAD_USER_INPUT for a moment that is past or too far ahead; CONFLICT, reason RESOLVED, for an item that is not open, reason LIMIT
 */
export function requireSnooze(item: Pick<ActionItemRow, 'status'>, until: Date, snoozed: number, now: Date): void {
  const ms = until.getTime() - now.getTime()
  if (ms <= 0 || ms > max.snoozeMs)
    throw new DomainError('BAD_USER_INPUT', `until is ${until.toISOString()}: it takes a moment in the next 30 days.`, { field: 'until' })
  requireCause(item)
  if (item.status !== 'OPEN') throw new DomainError('CONFLICT', 'It is done, so there is nothing to hide: reopen it first.', { reason: 'RESOLVED' })
  if (snoozed >= max.snoozed) throw new DomainError('CONFLICT', `You have snoozed ${snoozed} items: wake some of them first.`, { reason: 'LIMIT' })
}

/**
 * Checks that a viewer may change what they see: people may with the scope to read; keys and services need that to write.
 * @throws FORBIDDEN
 */
export function requireMayChange({ kind, scopes }: Pick<Viewer, 'kind' | 'scopes'>, scope: Scope = 'launcher:notifications.write'): void {
  if (kind === 'user' || scopes.includes(scope)) return
  throw new DomainError('FORBIDDEN', `A key or a service needs ${scope} for this: make one that has it.`)
}

/**
 * Checks that items are listed for somebody: an organization, or a person.
 * @throws BAD_USER_INPUT for a service that names no organization
 */
export function requireOwner({ organizationId, userId }: Pick<Viewer, 'organizationId' | 'userId'>): void {
  if (organizationId === null && userId === null)
    throw new DomainError('BAD_USER_INPUT', 'Items belong to an organization: say which in X-Organization-Id.', { field: 'X-Organization-Id' })
}

const topics = 'launcher.action-items.'

/** Returns the topic of an item's changes, for those who may see it. */
export const topicOf = (place: Place): string => `${topics}${audienceKeyOf(place)}`

/** Returns the topics of the items that a viewer sees in the active context. */
export const topicsFor = (viewer: Pick<Viewer, 'organizationId' | 'userId' | 'roles'>): string[] => audienceKeysOf(viewer).map(key => `${topics}${key}`)

/** Publishes, after the commit, that an item appeared, changed or closed. */
export const announceItem = (events: Events, item: ActionItemRow): void => events.announce(topicOf(item), { id: item.id }, item.version)

/** A snooze that began or ended. */
export interface SnoozeChange {
  readonly userId: string
  readonly itemId: string
  readonly organizationId: string | null
  readonly updatedAt: Date
}

/** Publishes to one person, after the commit, that an item is hidden or back. Its version is that of the snooze. */
export const announceSnooze = (events: Events, { userId, itemId, organizationId, updatedAt }: SnoozeChange): void =>
  events.announce(topicOf({ organizationId, audience: 'person', userId }), { id: itemId, snooze: userId }, updatedAt.getTime())

/** What a resync of items reads. */
export interface MissedItems {
  /** Returns items for the same people that changed since a moment. */
  items(place: Place, since: Date): Promise<readonly Pick<ActionItemRow, 'id' | 'version'>[]>
  /** Returns a person's snoozes in a context that began or ended since a moment. */
  snoozes(userId: string, organizationId: string | null, since: Date): Promise<readonly Pick<SnoozeChange, 'itemId' | 'updatedAt'>[]>
}

/** Registers the resync of items with listeners, because events may be lost between processes. */
export const resyncItems = (events: Events, missed: MissedItems): void =>
  events.resync(topics, async (rest, since) => {
    const [organization, audience, person] = rest.split('.') as [string, ActionItemRow['audience'], string?]
    const organizationId = organization === 'personal' ? null : organization
    const [items, snoozes] = await Promise.all([
      missed.items({ organizationId, audience, userId: person ?? null }, since),
      person === undefined ? [] : missed.snoozes(person, organizationId, since),
    ])
    return [
      ...items.map(({ id, version }) => ({ ids: { id }, mark: version })),
      ...snoozes.map(({ itemId, updatedAt }) => ({ ids: { id: itemId, snooze: person! }, mark: updatedAt.getTime() })),
    ]
  })
