import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLError } from 'graphql'
import { isErrorCode, Refusal, statusOf } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { type Authenticate, type Caller, isCaller } from '../access/authenticate.ts'
import { refusedCode } from '../access/refusal.ts'
import { webHeaders } from '../door/headers.ts'
import { leavingSignal } from '../door/leaving.ts'
import { limits, nestsDeeper } from '../door/limits.ts'
import type { Engine } from '../engine/engine.ts'
import type { OperationRow, RowInput } from './row.ts'

export interface RestDoor {
  readonly engine: Engine
  readonly authenticate: Authenticate
}

/** Serves one operation row under its service's prefix. Errors are thrown: the door's one error handler writes them. */
export function serveOperation(app: FastifyInstance, slug: Slug, row: OperationRow, door: RestDoor): void {
  app.route({
    method: row.method,
    url: `/${slug}${row.path}`,
    handler: async (request, reply) => {
      const caller = await callerOf(request, reply, door.authenticate)
      const input = readInput(row, request)
      const result = await door.engine.execute({
        document: row.operation,
        variables: given(row.variables(input)),
        viewer: caller.viewer,
        requestId: request.id,
        signal: leavingSignal(reply),
      })
      const data = result.data
      // A place further down that is refused or dead comes back null, as in the graph; the answer itself stands.
      const rootIsNull = !data || Object.values(data).every(value => value === null)
      if (rootIsNull && result.errors?.[0]) throw refusalOf(result.errors[0], caller)
      const answer = data && !rootIsNull ? row.reply(data) : null
      if (!answer) throw new Refusal('NOT_FOUND', 'There is nothing here under this id, or it belongs to another organization.')
      reply.headers(answer.headers ?? {})
      if (answer.body === undefined) return reply.code(answer.status ?? 204).send()
      return reply
        .code(answer.status ?? 200)
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify(answer.body))
    },
  })
}

/** Without what is undefined: a variable that is there without a value would count as null. */
const given = (variables: Record<string, unknown>) => Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined))

/** Reads who calls; credentials that do not count are thrown, with the headers that go with a 401. */
export async function callerOf(request: FastifyRequest, reply: FastifyReply, authenticate: Authenticate): Promise<Caller> {
  const result = await authenticate(webHeaders(request.headers), { safe: request.method === 'GET' || request.method === 'HEAD' })
  if (isCaller(result)) return result
  for (const line of result.setCookie) reply.header('set-cookie', line)
  throw result.refusal
}

function readInput(row: OperationRow, request: FastifyRequest): RowInput {
  const query: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.query as Record<string, string | string[]>)) {
    if (!row.query?.includes(name)) throw unknown('query parameter', name, row.query ?? [])
    query[name] = Array.isArray(value) ? value.at(-1)! : value
  }
  return {
    params: request.params as Record<string, string>,
    query,
    body: row.body ? readObject(request.body, row.body, request.headers['content-type']) : {},
    idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
    expectedVersion: readVersion(request.headers['if-match']),
  }
}

function readObject(body: unknown, keys: readonly string[], type: string | undefined): Record<string, unknown> {
  if (body === undefined && type === undefined)
    throw new Refusal('BAD_USER_INPUT', 'The body is missing: send a JSON object with Content-Type application/json.')
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal('BAD_USER_INPUT', body === undefined ? 'The body is missing: send a JSON object.' : 'The body is not a JSON object.')
  for (const name of Object.keys(body)) if (!keys.includes(name)) throw unknown('field', name, keys)
  if (nestsDeeper(body, limits.variables + 1))
    throw new Refusal('BAD_USER_INPUT', `The body nests lists and objects deeper than ${limits.variables} levels: send less of it at once.`, {
      limit: 'variables',
      most: limits.variables,
    })
  return body as Record<string, unknown>
}

const unknown = (what: string, name: string, known: readonly string[]) =>
  new Refusal('BAD_USER_INPUT', `There is no ${what} "${name.slice(0, 80)}" here${known.length > 0 ? `: known are ${known.join(', ')}` : ''}.`, {
    field: name.slice(0, 80),
  })

function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || header.length > 255) throw new Refusal('BAD_USER_INPUT', 'Idempotency-Key is one text of at most 255 characters.')
  return header
}

/** An entity tag of ours is the version in quotes (RFC 9110 §8.8.3); `*` asks for no version in particular. */
function readVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const version = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(header)?.[1]
  if (version === undefined)
    throw new Refusal('BAD_USER_INPUT', 'If-Match is not an ETag of this platform: send the one that came with the record, such as "3".')
  return Number(version)
}

/** The error of an operation as the refusal of a route: what a field refuses is 401 to strangers and 403 to known callers. */
function refusalOf(error: GraphQLError, { viewer }: Caller): unknown {
  const { code, ...details } = error.extensions
  if (code === refusedCode || code === 'UNAUTHENTICATED')
    return new Refusal(viewer.kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN', error.message, details)
  if (!isErrorCode(code) || statusOf[code] === 500) return error.originalError ?? error
  return new Refusal(code, error.message, details)
}
