import { DomainError } from '../../../../platform/errors.ts'
import { isText } from '../../../../platform/page.ts'
import { mutations } from './actions.ts'

/** A field of a record before and after a change, as text; null for a field without a value. */
export interface AuditChange {
  readonly field: string
  readonly before: string | null
  readonly after: string | null
}

/** Changes that one entry lists at most. */
export const maxChanges = 40

/**
 * Lists the fields that differ between two states of a record, in the order of `fields`.
 * @param before null for a record that was created
 * @param fields the fields that the log shows
 * @param hidden fields of which the log says only that they changed: what a person may have erased later
 */
export function changesOf<R extends object>(before: R | null, after: R, fields: readonly (keyof R & string)[], hidden: readonly string[] = []): AuditChange[] {
  return fields.flatMap(field => {
    const [was, is] = [before ? textOf(before[field]) : null, textOf(after[field])]
    if (was === is) return []
    return [hidden.includes(field) ? { field, before: null, after: null } : { field, before: was, after: is }]
  })
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
}

/** Returns the changes that the details of an entry list; none for an entry that lists none. */
export const shownChanges = ({ changes }: Readonly<Record<string, unknown>>): readonly AuditChange[] =>
  Array.isArray(changes) ? (changes as AuditChange[]).slice(0, maxChanges) : []

/** Returns the type of the record that an action is about: `payment_method.removed` is about a `PaymentMethod`. */
export const entityTypeOf = (action: string): string =>
  action
    .split('.', 1)[0]!
    .split('_')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Returns the first part of the actions about a type: `payment_method` for `PaymentMethod`. @throws BAD_USER_INPUT for what is no name of a type */
export function readEntityType(type: string | null | undefined): string | null {
  if (type === null || type === undefined) return null
  if (!/^[A-Z][A-Za-z]{0,60}$/.test(type))
    throw new DomainError('BAD_USER_INPUT', 'entityType is the name of a type, such as `Merchant`.', { field: 'entityType' })
  return type.replace(/(?<!^)[A-Z]/g, letter => `_${letter}`).toLowerCase()
}

/** Returns the mutation that an action comes from; the action itself where the platform did it without one. */
export const mutationOf = (action: string): string => mutations.get(action) ?? action

/** Returns the stored actions that a mutation writes. @throws BAD_USER_INPUT for what is no name of a mutation */
export function readMutation(name: string | null | undefined): readonly string[] | null {
  if (name === null || name === undefined) return null
  if (!isText(name) || name.length > 100)
    throw new DomainError('BAD_USER_INPUT', 'action is the name of a mutation, such as `updateMerchant`.', { field: 'action' })
  return [name, ...[...mutations].flatMap(([action, mutation]) => (mutation === name ? [action] : []))]
}

/** Who acted, in the graph's words. */
export function actorKindOf(actor: string): 'USER' | 'API_KEY' | 'SERVICE' {
  if (actor.startsWith('user:')) return 'USER'
  return actor.startsWith('key:') ? 'API_KEY' : 'SERVICE'
}

/** Returns the id of the key, or of the app, that acted; null for other actors. */
export const namedOf = (actor: string, kind: 'key' | 'service'): string | null => (actor.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : null)
