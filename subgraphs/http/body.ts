import { DomainError } from '../../platform/errors.ts'
import { isUnwieldy, mostLevels, mostParts } from './depth.ts'

/** Maximum bytes of a body for identity's handlers. */
const longestBody = 16 * 1024

/** Returns the bytes of a body; null without one. @throws BAD_USER_INPUT for a too long one */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  if (request.method === 'GET' || !request.body) return null
  const body = await request.bytes()
  if (body.byteLength > longestBody) throw new DomainError('BAD_USER_INPUT', `The body is longer than ${longestBody} bytes.`)
  return body.byteLength === 0 ? null : body
}

/** @throws BAD_USER_INPUT for JSON that nests too deep, or has too many parts */
export function requireFlat(json: Uint8Array | null): void {
  if (json && isUnwieldy(json))
    throw new DomainError(
      'BAD_USER_INPUT',
      `The body nests lists and objects deeper than ${mostLevels} levels, or has more than ${mostParts} lists, objects and fields: send less of it at once.`,
    )
}

/** Returns the fields of a JSON object or a form. @throws BAD_USER_INPUT for anything else */
export function fieldsOf(contentType: string, body: Uint8Array | null): Record<string, unknown> {
  const text = new TextDecoder().decode(body ?? new Uint8Array())
  if (contentType.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  if (!contentType.startsWith('application/json')) throw new DomainError('BAD_USER_INPUT', 'The content type is not application/json.')
  requireFlat(body)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Invalid JSON gets the error below.
  }
  throw new DomainError('BAD_USER_INPUT', 'The body is not a JSON object.')
}

/** Reads the fields of a request's body. @throws BAD_USER_INPUT for anything but a JSON object or a form */
export const readFields = async (request: Request): Promise<Record<string, unknown>> =>
  fieldsOf(request.headers.get('content-type') ?? '', await readBody(request))
