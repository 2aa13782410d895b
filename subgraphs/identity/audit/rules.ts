import { DomainError } from '../../../platform/errors.ts'
import { isText } from '../../../platform/page.ts'
import { personOf, type Viewer } from '../../viewer.ts'
import { canManageOrganization } from '../membership/rules.ts'
import { type AuditEntryRow, isAction, targetTypes } from '../stores/audit-entry.ts'

/** Kind of an actor, in the graph's spelling. */
type ActorKind = 'USER' | 'API_KEY' | 'SERVICE' | 'ANONYMOUS'

/** Returns the kind of an audit entry's actor; other actors are the platform itself. */
export function actorKindOf(actor: string): ActorKind {
  if (actor.startsWith('user:')) return 'USER'
  if (actor.startsWith('key:')) return 'API_KEY'
  return actor === 'anonymous' ? 'ANONYMOUS' : 'SERVICE'
}

/** Returns the key, or the service, that an audit entry names as actor; null for other actors. */
export const namedOf = (actor: string, kind: 'key' | 'service'): string | null => (actor.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : null)

/** Returns the kind of record that an action concerns; for an action that is no longer listed, its noun. */
export const targetTypeOf = (action: string): string => (isAction(action) ? targetTypes[action] : action.split('.', 1)[0]!)

/** Returns the details of an entry in display form. */
export const detailsOf = (details: Readonly<Record<string, unknown>>): readonly { readonly key: string; readonly value: string }[] =>
  Object.entries(details).map(([key, value]) => ({ key, value: typeof value === 'string' ? value : JSON.stringify(value) }))

/** @throws BAD_USER_INPUT for an unknown action */
export function readAction(action: string | null | undefined): string | null {
  if (action !== null && action !== undefined && !(isText(action) && action.length <= 100))
    throw new DomainError('BAD_USER_INPUT', 'action is a noun and a past participle, such as `api_key.created`.', { field: 'action' })
  return action ?? null
}

/**
 * Whether a reader of an entry sees its address and User-Agent: managers do in their organization's log. In the log of
 * their own account people do not when another person acted, such as a manager, or a platform administrator who
 * suspended them.
 */
export function readsWhole({ tenantId, actor, userId }: Pick<AuditEntryRow, 'tenantId' | 'actor' | 'userId'>, viewer: Viewer): boolean {
  if (tenantId === viewer.organizationId && canManageOrganization(viewer)) return true
  const by = userId ?? personOf(actor)
  return by === null || by === viewer.userId
}
