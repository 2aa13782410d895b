import type { Reply } from '../../network.ts'
import { json } from '../../network.ts'

// The shapes in which X refuses: https://docs.x.com/x-api/fundamentals/response-codes-and-errors

const titles: Record<number, string> = {
  400: 'Invalid Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** A generic refusal, `{ title, detail, type: 'about:blank', status }`; the detail repeats the title unless X says more. */
export function problem(status: number, detail?: string, headers: Record<string, string> = {}): Reply {
  const title = titles[status] ?? (status < 500 ? 'Bad Request' : 'Internal Server Error')
  const said = detail ?? title
  return {
    ...json(status, { title, detail: said, type: 'about:blank', status }, 'refused', { 'content-type': 'application/problem+json', ...headers }),
    reason: said,
  }
}

/** Something wrong with one parameter or with a place in the body, as an entry of an invalid request's `errors`. */
export interface Mistake {
  readonly message: string
  readonly parameters?: Readonly<Record<string, readonly string[]>>
}

/** 400 with one entry a mistake. */
export function invalidRequest(...mistakes: readonly Mistake[]): Reply {
  const body = {
    errors: mistakes.map(({ message, parameters = {} }) => ({ parameters, message })),
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: 'https://api.x.com/2/problems/invalid-request',
  }
  return { ...json(400, body, 'refused'), reason: mistakes.map(one => one.message).join(' ') }
}

/** The entry of `errors` that stands for a post or a user that is not there. */
export function notFound(kind: 'tweet' | 'user', id: string, parameter: 'id' | 'ids'): Record<string, string> {
  return {
    value: id,
    detail: `Could not find ${kind} with ${parameter}: [${id}].`,
    title: 'Not Found Error',
    resource_type: kind,
    parameter,
    resource_id: id,
    type: 'https://api.x.com/2/problems/resource-not-found',
  }
}

/** A refusal of the authorization server: `{ error, error_description }` (RFC 6749 §5.2). */
export function oauthError(status: number, error: string, description: string): Reply {
  return { ...json(status, { error, error_description: description }, 'refused'), reason: description }
}
