import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type GraphQLSchema, isInputObjectType, Kind, type TypeNode } from 'graphql'
import { DomainError } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Authenticate, type Caller, isCaller } from '../access/authenticate.ts'
import { browserOf } from '../access/browser.ts'
import { claimOf } from '../access/callers/claim.ts'
import { meetsPolicy } from '../access/policies.ts'
import { webHeaders } from '../door/headers.ts'
import { leavingSignal, rememberCaller } from '../door/sending.ts'
import type { Engine } from '../engine/engine.ts'
import type { Hosts } from '../hosts.ts'
import type { Shares } from '../live/shares.ts'
import { readInput, type Sent } from './input.ts'
import { keepRole, rolesOf } from './place.ts'
import { isKnown, preconditionFailed, tagOfBody } from './preconditions.ts'
import type { OperationRow, RowReply } from './row.ts'
import { wordsOf } from './words.ts'

export interface RestDoor {
  readonly engine: Engine
  readonly authenticate: Authenticate
  /** Limits the concurrent operations of callers. */
  readonly shares: Shares
  readonly publicUrl: string
  readonly hosts: Hosts
}

/** Headers that identify a caller: answers at one address may differ by them. */
const credentialHeaders = 'Authorization, Cookie, X-API-Key, X-Service-Token, X-App-Id, X-Organization-Id, X-On-Behalf-Of'

/**
 * Serves one operation route under its service's prefix, with and without a trailing slash. Errors are thrown: the
 * application's error handler answers them.
 */
export function serveOperation(app: FastifyInstance, slug: Slug, row: OperationRow, door: RestDoor): void {
  const words = wordsOf(row, door.engine.schema)
  const versioned = takesVersion(row, door.engine.schema)
  const handler = async (request: FastifyRequest<Sent>, reply: FastifyReply) => {
    // A cache must revalidate an answer, and may keep it for one caller only.
    reply.header('cache-control', 'private, no-cache').header('vary', credentialHeaders)
    const caller = await callerOf(request, reply, door.authenticate)
    if (row.policy) keepPolicy(row.policy, caller.viewer)
    const input = readInput(row, request)
    const { headers } = request
    if (row.method !== 'GET') refuseVain(row, headers, versioned)
    const variables = given(row.variables(input))
    words.check(variables)
    const known = row.method === 'GET' ? null : browserOf(webHeaders(headers), caller, door.publicUrl)
    if (known?.setCookie) reply.header('set-cookie', known.setCookie)
    const signal = leavingSignal(reply.raw)
    const claim = claimOf(caller.viewer, request.ip)
    const asked = {
      document: row.operation,
      variables,
      viewer: caller.viewer,
      claim,
      requestId: request.id,
      browser: known?.browser,
      signal,
      isOurs: true,
    }
    const result = await door.shares.run(claim, () => door.engine.execute(asked), signal)
    const data = result.data
    // A nested field that is refused or fails is null, as in the graph; the rest of the answer stays.
    const rootIsNull = !data || Object.values(data).every(value => value === null)
    const answer = rootIsNull ? null : row.reply(data)
    const error = !answer && (result.errors?.find(({ path }) => (path?.length ?? 0) <= 1) ?? result.errors?.[0])
    if (error) throw words.refusal(error, caller.viewer)
    if (!answer) throw new DomainError('NOT_FOUND', 'No record has this id, or it belongs to another organization.')
    if (result.extensions?.replayed) reply.header('idempotent-replayed', 'true')
    return send(row, answer, request, reply)
  }
  const onRequest = keepRole(door.hosts, slug, ...rolesOf(row))
  for (const end of ['', '/']) app.route<Sent>({ method: row.method, url: `/${slug}${row.path}${end}`, onRequest, handler })
}

/** @throws UNAUTHENTICATED, FORBIDDEN */
function keepPolicy(policy: NonNullable<OperationRow['policy']>, viewer: Viewer): void {
  if (meetsPolicy(policy, viewer)) return
  const wanted = { requiredPolicies: [[policy]] }
  if (viewer.kind === 'anonymous') throw new DomainError('UNAUTHENTICATED', 'Only services may call this: send X-Service-Token and X-App-Id.', wanted)
  throw new DomainError('FORBIDDEN', 'Only services may call this, not people or API keys.', wanted)
}

function send(row: OperationRow, { status, headers, body }: RowReply, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers(headers ?? {})
  if (body === undefined) return reply.code(status ?? 204).send()
  const text = JSON.stringify(body)
  if (row.method === 'GET') {
    const etag = headers?.etag ?? tagOfBody(text)
    reply.header('etag', etag)
    if (isKnown(etag, request.headers)) return reply.code(304).send()
  }
  return reply
    .code(status ?? 200)
    .header('content-type', 'application/json; charset=utf-8')
    .send(text)
}

/** Removes undefined variables: a variable without a value would count as null. */
const given = (variables: Record<string, unknown>) => Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined))

/** Returns the caller; throws for invalid credentials, with the headers of a 401. */
export async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  authenticate: (...asked: Parameters<Authenticate>) => ReturnType<Authenticate>,
): Promise<Caller> {
  const result = await authenticate(webHeaders(request.headers), { safe: request.method === 'GET' || request.method === 'HEAD' })
  if (isCaller(result)) {
    rememberCaller(request, result.viewer)
    return result
  }
  for (const line of result.setCookie) reply.header('set-cookie', line)
  throw result.refusal
}

/** Whether a row's operation can wait for a version. */
function takesVersion({ operation }: OperationRow, schema: GraphQLSchema): boolean {
  const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type))
  return operation.definitions.some(
    node =>
      node.kind === Kind.OPERATION_DEFINITION &&
      node.variableDefinitions?.some(({ type }) => {
        const input = schema.getType(nameOf(type))
        return isInputObjectType(input) && 'expectedVersion' in input.getFields()
      }),
  )
}

/** Rejects a change under a condition that the route cannot check, instead of ignoring the condition. */
function refuseVain({ method }: OperationRow, headers: FastifyRequest['headers'], versioned: boolean): void {
  const wanted = headers['if-match']
  if (!versioned && wanted !== undefined && wanted.trim() !== '*') throw preconditionFailed('The resource at this address has no version: omit If-Match.')
  if (method !== 'POST' && headers['if-none-match'] !== undefined)
    throw preconditionFailed('If-None-Match is for reads only: send If-Match with the version that you read.')
}
