import { Refusal } from '../../../platform/errors.ts'
import type { Events } from '../../../platform/events.ts'
import type { Scope } from '../../scopes.ts'
import type { FactBody } from '../../store/fact-kinds.ts'
import type { Viewer } from '../../viewer.ts'
import type { ActionItemRow, Place, Severity } from '../stores/action-item.ts'

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
  return { ...opened, status: 'OPEN', closedAt: null, closedBy: null }
}

/** Returns the changes when an item's cause is gone; null when it is resolved already. */
export const resolving = ({ status }: Pick<ActionItemRow, 'status'>, at: Date): Partial<ActionItemRow> | null =>
  status === 'RESOLVED' ? null : { status: 'RESOLVED', closedAt: at, closedBy: null }

/**
 * Returns the changes when a person marks an item as done.
 * @throws CONFLICT, reason RESOLVED, when its cause is gone
 */
export function completing({ status }: Pick<ActionItemRow, 'status'>, now: Date, actor: string): Partial<ActionItemRow> {
  if (status === 'RESOLVED') throw new Refusal('CONFLICT', 'Its cause is gone, so there is nothing left to do: read the list again.', { reason: 'RESOLVED' })
  return status === 'DONE' ? {} : { status: 'DONE', closedAt: now, closedBy: actor }
}

/**
 * Checks that a viewer may change what they see: people may with the scope to read; keys and services need that to write.
 * @throws FORBIDDEN
 */
export function requireMayChange({ kind, scopes }: Pick<Viewer, 'kind' | 'scopes'>, scope: Scope = 'launcher:notifications.write'): void {
  if (kind === 'user' || scopes.includes(scope)) return
  throw new Refusal('FORBIDDEN', `A key or a service needs ${scope} for this: make one that has it.`)
}

const isManager = ({ roles }: Pick<Viewer, 'roles'>): boolean => roles.includes('owner') || roles.includes('admin')

const topics = 'launcher.action-items.'

/** Returns the topic of an item's changes, for those who may see it. */
export function topicOf({ organizationId, audience, userId }: Place): string {
  if (audience === 'person') return `${topics}${organizationId ?? 'personal'}.person.${userId}`
  return `${topics}${organizationId}.${audience}`
}

/** Returns the topics of the items that a viewer sees in the active context. */
export function topicsFor(viewer: Pick<Viewer, 'organizationId' | 'userId' | 'roles'>): string[] {
  const { organizationId, userId } = viewer
  const own = userId ? [topicOf({ organizationId, audience: 'person', userId })] : []
  if (!organizationId) return own
  const shared = isManager(viewer) ? (['organization', 'managers'] as const) : (['organization'] as const)
  return [...shared.map(audience => topicOf({ organizationId, audience, userId: null })), ...own]
}

/** Publishes, after the commit, that an item appeared, changed or closed. */
export const announceItem = (events: Events, item: ActionItemRow): void => events.announce(topicOf(item), { id: item.id }, item.version)

/** Registers the resync of items with listeners, because events may be lost between processes. */
export const resyncItems = (events: Events, changedSince: (place: Place, since: Date) => Promise<readonly Pick<ActionItemRow, 'id' | 'version'>[]>): void =>
  events.resync(topics, async (rest, since) => {
    const [organization, audience, person] = rest.split('.') as [string, ActionItemRow['audience'], string?]
    const place = { organizationId: organization === 'personal' ? null : organization, audience, userId: person ?? null }
    return (await changedSince(place, since)).map(({ id, version }) => ({ ids: { id }, mark: version }))
  })
