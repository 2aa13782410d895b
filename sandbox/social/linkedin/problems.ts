import type { Reply } from '../../network.ts'
import { json } from '../../network.ts'

// The shapes in which LinkedIn refuses: https://learn.microsoft.com/linkedin/shared/api-guide/concepts/error-handling

const codes: Readonly<Record<number, string>> = {
  400: 'ILLEGAL_ARGUMENT',
  401: 'INVALID_ACCESS_TOKEN',
  403: 'ACCESS_DENIED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  422: 'UNPROCESSABLE_ENTITY',
  426: 'NONEXISTENT_VERSION',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
}

const sentences: Readonly<Record<number, string>> = {
  401: 'Invalid access token',
  403: 'Not enough permissions to access the resource',
  404: 'The resource does not exist',
  429: 'Resource level throttle APPLICATION_AND_MEMBER DAY limit for calls to this resource is reached.',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** `{ status, code, message }`, with a service's number where LinkedIn gives one. */
export function problem(status: number, message = sentences[status] ?? 'Internal Server Error', more: object = {}): Reply {
  const code = codes[status] ?? (status < 500 ? 'ILLEGAL_ARGUMENT' : 'INTERNAL_SERVER_ERROR')
  return { ...json(status, { status, code, message, ...more }, 'refused'), reason: message }
}

export const unauthorized = (code: 'INVALID_ACCESS_TOKEN' | 'EXPIRED_ACCESS_TOKEN' | 'REVOKED_ACCESS_TOKEN'): Reply =>
  problem(401, said[code].message, { code, serviceErrorCode: said[code].number })

const said = {
  INVALID_ACCESS_TOKEN: { number: 65600, message: 'Invalid access token' },
  REVOKED_ACCESS_TOKEN: { number: 65601, message: 'The token used in the request has been revoked by the user' },
  EXPIRED_ACCESS_TOKEN: { number: 65602, message: 'The token used in the request has expired' },
} as const

/** A token without the scopes of a resource. */
export const denied = (resource: string): Reply => problem(403, `Not enough permissions to access: ${resource}`, { serviceErrorCode: 100 })

/** One thing in a body that LinkedIn does not take. */
export const invalid = (fieldPath: string, description: string, code = 'INVALID_VALUE'): Reply =>
  problem(400, `${fieldPath} :: ${description}`, {
    errorDetailType: 'com.linkedin.common.error.BadRequest',
    errorDetails: inputErrors(fieldPath, description, code),
  })

/** What an author has posted before. */
export function duplicateOf(urn: string): Reply {
  const description = `Content is a duplicate of ${urn}`
  return problem(422, description, { errorDetails: inputErrors('', description, 'DUPLICATE_POST') })
}

const inputErrors = (fieldPath: string, description: string, code: string) => ({ inputErrors: [{ description, input: { inputPath: { fieldPath } }, code }] })

/** A refusal of the authorization server (RFC 6749 §5.2). */
export const oauthError = (status: number, error: string, description: string): Reply => ({
  ...json(status, { error, error_description: description }, 'refused'),
  reason: description,
})
