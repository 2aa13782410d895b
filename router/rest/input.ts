import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../platform/errors.ts'
import { refusedValues } from '../door/limits.ts'
import { versionExpected } from './preconditions.ts'
import type { OperationRow, RowInput } from './row.ts'
import { isRecord } from './values.ts'

/** The parts of a request that routes read, as Fastify parses them. */
export interface Sent {
  readonly Params: Readonly<Record<string, string>>
  readonly Querystring: Readonly<Record<string, string | readonly string[]>>
  readonly Headers: { readonly 'idempotency-key'?: string }
}

/**
 * Reads a request as the input of a route's operation.
 * @throws BAD_USER_INPUT for an unknown parameter or field, a body that is not an object, a header that cannot be read
 */
export function readInput(row: OperationRow, request: FastifyRequest<Sent>): RowInput {
  const query: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.query)) {
    if (!row.query?.includes(name)) throw unknown('query parameter', name, row.query ?? [])
    query[name] = Array.isArray(value) ? value.at(-1)! : value
  }
  return {
    params: request.params,
    query,
    body: row.body && !(row.mayBeEmpty && request.body === undefined) ? readObject(request.body, row.body, request.headers['content-type']) : {},
    idempotencyKey: request.headers['idempotency-key'],
    expectedVersion: versionExpected(request.headers['if-match']),
  }
}

function readObject(body: unknown, keys: readonly string[], type: string | undefined): Readonly<Record<string, unknown>> {
  if (body === undefined && type === undefined)
    throw new DomainError('BAD_USER_INPUT', 'The body is missing: send a JSON object with Content-Type application/json.')
  if (!isRecord(body))
    throw new DomainError('BAD_USER_INPUT', body === undefined ? 'The body is missing: send a JSON object.' : 'The body is not a JSON object.')
  for (const name of Object.keys(body)) if (!keys.includes(name)) throw unknown('field', name, keys)
  const refused = refusedValues(body, 'The values of the body')
  if (refused) throw new DomainError('BAD_USER_INPUT', refused.message, { ...refused.extensions })
  return body
}

const unknown = (what: string, name: string, known: readonly string[]) =>
  new DomainError('BAD_USER_INPUT', `There is no ${what} "${name.slice(0, 80)}" here${known.length > 0 ? `: known are ${known.join(', ')}` : ''}.`, {
    field: name.slice(0, 80),
  })
