import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { addressHeader, sealHeader } from '../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { readRawBodies } from '../door/body.ts'
import { webHeaders } from '../door/headers.ts'
import { leavingSignal } from '../door/sending.ts'
import type { Hosts } from '../hosts.ts'
import { keepRole, roleOf } from './place.ts'
import { anyMethod, type ForwardRow } from './row.ts'
import { callerOf } from './shim.ts'

/** Headers of one connection, not of the message (RFC 9110 §7.6.1), and what the router says itself. */
const ownHeaders = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', addressHeader, sealHeader]

/** A subgraph as the rows that pass it by need it: a call in this process, or HTTP. */
export interface ForwardTarget {
  readonly registration: { readonly slug: Slug; readonly title?: string }
  /** @param target path and query as they were routed: a request's own address went through a URL parser */
  http?(request: Request, viewer: Viewer, target: string): Promise<Response>
}

export interface ForwardDoor {
  readonly authenticate: Authenticate
  /** Origin of the platform, before which paths become addresses. */
  readonly publicUrl: string
  readonly hosts: Hosts
  readonly subgraphs: readonly ForwardTarget[]
}

/** Serves the forward rows of all services: body and answer pass as they are, as streams or bytes, with all their headers. */
export function serveForwards(app: FastifyInstance, rows: readonly { readonly slug: Slug; readonly row: ForwardRow }[], door: ForwardDoor): void {
  app.register(async scope => {
    // By method too: one address takes a page's form and shows the page, and only one of them has a body.
    const limits = new Map<string, number>()
    readRawBodies(scope, ({ method, routeOptions: { url = '' } }) => limits.get(`${method} ${url}`) ?? 0)
    for (const { slug, row } of rows) {
      const target = door.subgraphs.find(each => each.registration.slug === row.to)
      if (!target?.http) throw new Error(`${row.method} /${slug}${row.path} is forwarded to ${row.to}, which serves no HTTP`)
      const [methods, url] = [row.method === '*' ? [...anyMethod] : [row.method], `/${slug}${row.path}`]
      for (const method of methods) limits.set(`${method} ${url}`, row.limit)
      scope.route({
        method: methods,
        url,
        onRequest: keepRole(door.hosts, slug, roleOf(row)),
        handler: (request, reply) => forward(request, reply, row, target, door),
      })
    }
  })
}

async function forward(request: FastifyRequest, reply: FastifyReply, row: ForwardRow, target: ForwardTarget, door: ForwardDoor): Promise<FastifyReply> {
  const viewer = 'public' in row.access ? anonymous : await guarded(request, reply, row.access.scope, door.authenticate)
  const headers = webHeaders(request.headers)
  for (const name of ownHeaders) headers.delete(name)
  // Whoever reads cookies behind this door may rely on it that they count here.
  if (!door.hosts.isWeb(request.headers.host)) headers.delete('cookie')
  headers.set(addressHeader, addressOf(request))
  headers.set('x-request-id', request.id)
  const body = request.body as Buffer | undefined
  const answer = await target.http!(
    new Request(`${door.publicUrl}${request.url}`, {
      method: request.method,
      headers,
      signal: leavingSignal(reply.raw),
      redirect: 'manual',
      ...(body?.length && { body: new Uint8Array(body) }),
    }),
    viewer,
    request.url,
  )
  // Such a handler may have ended a session or made one: what is remembered of them is not true any more.
  if (request.method !== 'GET' && request.method !== 'HEAD') door.authenticate.forget()
  reply.code(answer.status)
  if (answer.status === 401) reply.header('www-authenticate', 'Bearer')
  for (const [name, value] of answer.headers) if (name !== 'set-cookie' && !ownHeaders.includes(name)) reply.header(name, value)
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  // Of null Fastify makes the JSON text `null`.
  return answer.body ? reply.send(Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream)) : reply.send()
}

async function guarded(request: FastifyRequest, reply: FastifyReply, scope: string, authenticate: Authenticate): Promise<Viewer> {
  const { viewer } = await callerOf(request, reply, authenticate)
  if (viewer.scopes.includes(scope)) return viewer
  if (viewer.kind === 'anonymous') throw new Refusal('UNAUTHENTICATED', `Sign in: this takes the scope ${scope}.`, { requiredScopes: [[scope]] })
  throw new Refusal('FORBIDDEN', `This takes the scope ${scope}.`, { requiredScopes: [[scope]] })
}

/** The caller's address; Fastify reads forwarding headers only when it was told to trust the proxy. */
const addressOf = (request: FastifyRequest): string => request.ip.replace(/^::ffff:/, '')
