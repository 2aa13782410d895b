import { randomBytes } from 'node:crypto'
import type { ArmedFault, Call, Reply } from '../../network.ts'
import { json, textOf } from '../../network.ts'

// The shapes in which the Graph API answers: https://developers.facebook.com/docs/graph-api/guides/error-handling

/** What is wrong with a call. */
export interface GraphProblem {
  readonly message: string
  /** https://developers.facebook.com/docs/graph-api/guides/error-handling#errorcodes */
  readonly code: number
  readonly subcode?: number
  /** @default 400 */
  readonly status?: number
  /** @default OAuthException */
  readonly type?: string
  /** What a person may be told. */
  readonly user?: { readonly title: string; readonly message: string }
}

/** A refusal as the Graph API writes it. */
export function graphError({ message, code, subcode, status = 400, type = 'OAuthException', user }: GraphProblem): Reply {
  const error = {
    message,
    type,
    code,
    ...(subcode !== undefined && { error_subcode: subcode }),
    ...(user && { is_transient: false, error_user_title: user.title, error_user_msg: user.message }),
    fbtrace_id: `A${randomBytes(8).toString('base64url')}`,
  }
  return { ...json(status, { error }, 'refused'), reason: message }
}

/** A token that is not good, or not any more. */
export const noToken = (): Reply =>
  graphError({ status: 401, code: 190, subcode: 463, message: 'Error validating access token: Session has expired on Monday, 01-Jan-01 00:00:00 PST.' })

/** A permission that the account did not give. */
export const noPermission = (scope: string): Reply =>
  graphError({ status: 403, code: 10, message: `(#10) Application does not have permission for this action: it needs ${scope}` })

/** What is not there, or not this account's to see: the Graph API tells no difference. */
export const notThere = (id: string, verb = 'get'): Reply =>
  graphError({
    code: 100,
    subcode: 33,
    type: 'GraphMethodException',
    message: `Unsupported ${verb} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
  })

export const noPath = (path: string): Reply => graphError({ code: 2500, message: `Unknown path components: ${path}` })

export const invalid = (parameter: string, why = 'Invalid parameter'): Reply => graphError({ code: 100, message: `(#100) ${why}: ${parameter}` })

/** How an armed `status`, `media-status` or `profile-status` refuses: with a code that goes with that status. */
export function refusedByFault({ status = 500 }: Pick<ArmedFault, 'status'>): Reply {
  if (status === 401) return noToken()
  if (status === 403) return graphError({ status, code: 368, message: 'The action attempted has been deemed abusive or is otherwise disallowed' })
  if (status === 404) return { ...notThere('0'), status }
  if (status === 429) return graphError({ status, code: 4, message: '(#4) Application request limit reached' })
  if (status < 500) return graphError({ status, code: 100, message: '(#100) The sandbox was told to refuse this call' })
  return graphError({ status, code: 2, message: 'An unexpected error has occurred. Please retry your request later.' })
}

/** What a call says, in its address, a form or JSON: the Graph API takes either. Lists and objects in JSON are texts of JSON here, as they are in forms. */
export function parametersOf(call: Call): URLSearchParams {
  const all = new URLSearchParams(call.query)
  const type = call.headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) for (const [name, value] of new URLSearchParams(textOf(call))) all.set(name, value)
  if (/^application\/json\b/i.test(type))
    for (const [name, value] of Object.entries(objectIn(textOf(call)))) all.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return all
}

/** The object that a JSON text holds; an empty one for anything else. */
function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** What a JSON text holds; undefined for none. */
export function valueIn(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields that are asked for; nested ones by their own name: `comments.summary(true)` is `comments`. */
export const fieldsOf = (parameters: URLSearchParams, fallback: readonly string[]): ReadonlySet<string> => {
  const asked = parameters.get('fields')
  if (asked === null) return new Set(['id', ...fallback])
  const outer = asked.replaceAll(/\([^)]*\)|\{[^}]*\}/g, '')
  return new Set([
    'id',
    ...outer
      .split(',')
      .map(field => field.trim().split('.')[0]!)
      .filter(Boolean),
  ])
}

/** Of an object's fields those that are asked for. */
export const shown = (object: Readonly<Record<string, unknown>>, fields: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(object).filter(([name, value]) => fields.has(name) && value !== undefined && value !== null))

/** A list as the Graph API answers it: whole, for none here is longer than a page. */
export const listed = (data: readonly object[]): Reply =>
  json(200, { data, ...(data.length > 0 && { paging: { cursors: { before: 'MA', after: 'Mg' } } }) }, 'read')

/** A moment as the Graph API writes it. */
export const graphTime = (iso: string): string => `${iso.slice(0, 19)}+0000`

/** The versions that are played; older ones the Graph API does not know any more. */
export const knowsVersion = (version: string): boolean => /^v2[2-5]\.0$/.test(version)

export const noVersion = (version: string): Reply =>
  graphError({ code: 2635, message: `(#2635) You are calling a deprecated version of the API: ${version}. Please update to the latest version: v25.0.` })
