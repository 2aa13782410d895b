import { Refusal } from '../../../platform/errors.ts'
import { isText } from '../../../platform/page.ts'
import { personOf, type Viewer } from '../../viewer.ts'
import { canManageOrganization } from '../membership/rules.ts'
import { type AuditEntryRow, isAction, targetTypes } from '../stores/audit-entry.ts'

/** In the graph's words. */
type ActorKind = 'USER' | 'API_KEY' | 'SERVICE' | 'ANONYMOUS'

/** What an actor is, as the record names it: what is nobody's is the platform's. */
export function actorKindOf(actor: string): ActorKind {
  if (actor.startsWith('user:')) return 'USER'
  if (actor.startsWith('key:')) return 'API_KEY'
  return actor === 'anonymous' ? 'ANONYMOUS' : 'SERVICE'
}

/** The key, or the service, that the record names so; null for other actors. */
export const namedOf = (actor: string, kind: 'key' | 'service'): string | null => (actor.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : null)

/** What kind of thing an action is about; of one that is not on the list any more, its noun. */
export const targetTypeOf = (action: string): string => (isAction(action) ? targetTypes[action] : action.split('.', 1)[0]!)

/** The facts of an entry, as they are shown. */
export const detailsOf = (details: Readonly<Record<string, unknown>>): readonly { readonly key: string; readonly value: string }[] =>
  Object.entries(details).map(([key, value]) => ({ key, value: typeof value === 'string' ? value : JSON.stringify(value) }))

/** @throws BAD_USER_INPUT for what no action is called */
export function readAction(action: string | null | undefined): string | null {
  if (action !== null && action !== undefined && !(isText(action) && action.length <= 100))
    throw new Refusal('BAD_USER_INPUT', 'action is a noun and a past participle, such as `api_key.created`.', { field: 'action' })
  return action ?? null
}

/**
 * Whether somebody who may read an entry reads from where it was done and with what words: managers do in their organization's record. In
 * that of their own account people do not when somebody else has done it, such as a manager, or who suspends for reasons of the platform's.
 */
export function readsWhole({ tenantId, actor, userId }: Pick<AuditEntryRow, 'tenantId' | 'actor' | 'userId'>, viewer: Viewer): boolean {
  if (tenantId === viewer.organizationId && canManageOrganization(viewer)) return true
  const by = userId ?? personOf(actor)
  return by === null || by === viewer.userId
}
