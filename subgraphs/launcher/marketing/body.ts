import { DomainError } from '../../../platform/errors.ts'
import { fieldsOf } from '../../http/body.ts'

/** Maximum bytes of a form: 4,000 characters of any script, and the solution of a challenge. */
export const maxFormBytes = 32 * 1024

type Kind = 'text' | 'number' | 'object'
type ValueOf<K extends Kind> = K extends 'text' ? string : K extends 'number' ? number : Readonly<Record<string, unknown>>

/** Members of a body, by their name. */
export type Members = Readonly<Record<string, Kind>>

/** A body with these members: what was left out, or is null, is not there. */
export type Form<M extends Members> = { readonly [Name in keyof M]?: ValueOf<M[Name]> }

const kindOf = (value: unknown): Kind | null => {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'object' && !Array.isArray(value) ? 'object' : null
}

/** Checks the members of an object. @param within name of the object, where it is part of a body @throws BAD_USER_INPUT with `field` */
export function membersOf<const M extends Members>(fields: Readonly<Record<string, unknown>>, members: M, within = ''): Form<M> {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  for (const [name, value] of given) {
    const field = `${within}${name}`.slice(0, 80)
    const wanted = Object.hasOwn(members, name) ? members[name] : undefined
    if (wanted === undefined) throw new DomainError('BAD_USER_INPUT', `${field} is not known here: it takes ${Object.keys(members).join(', ')}.`, { field })
    if (kindOf(value) !== wanted) throw new DomainError('BAD_USER_INPUT', `${field} must be ${wanted === 'object' ? 'an object' : `a ${wanted}`}.`, { field })
  }
  return Object.fromEntries(given) as Form<M>
}

/** Reads a form, sent as JSON or by a page without a script; the key of its repetitions is in a header. @throws BAD_USER_INPUT with `field` */
export async function readForm<const M extends Members>(request: Request, members: M): Promise<Form<M> & { readonly idempotencyKey?: string }> {
  const body = request.body ? await request.bytes() : null
  if (body && body.byteLength > maxFormBytes) throw new DomainError('BAD_USER_INPUT', `The body is longer than ${maxFormBytes} bytes.`)
  const idempotencyKey = request.headers.get('idempotency-key')
  const form = membersOf(fieldsOf(request.headers.get('content-type') ?? '', body), members)
  return { ...form, ...(idempotencyKey !== null && { idempotencyKey }) }
}

/** Returns a required member. @throws BAD_USER_INPUT with `field` */
export function required<Value>(value: Value | undefined, field: string): Value {
  if (value !== undefined) return value
  throw new DomainError('BAD_USER_INPUT', `${field} is missing.`, { field })
}

/** Reads a value of an enum in lower case. @throws BAD_USER_INPUT with `field` */
export function oneOf<const Value extends string>(given: string | undefined, values: readonly Value[], field: string): Value {
  const found = values.find(value => value.toLowerCase() === required(given, field))
  if (found !== undefined) return found
  throw new DomainError('BAD_USER_INPUT', `${field} must be one of ${values.map(value => value.toLowerCase()).join(', ')}.`, { field })
}

/** Reads a moment. @throws BAD_USER_INPUT with `field` */
export function momentOf(given: string, field: string): Date {
  const at = new Date(given)
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(given) && !Number.isNaN(at.getTime())) return at
  throw new DomainError('BAD_USER_INPUT', `${field} must be a moment such as 2027-03-01T09:30:00Z.`, { field })
}
