import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Hosts } from '../hosts.ts'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** Answer headers that pages of other origins may read, besides those that browsers always allow. */
const exposed = [
  'ETag, Idempotent-Replayed, Location, Retry-After, Sunset, X-Request-Id',
  'Upload-Offset, Upload-Length, Upload-Expires, Tus-Resumable, X-Media-Asset-Id',
  ...['Attempts', 'Call-Id', 'Cost-Micros', 'Dropped', 'Model', 'Provider'].map(name => `X-Gateway-${name}`),
].join(', ')

/** Seconds for which a browser may cache a preflight. */
const maxAge = 600

/** Routes that pages of more origins may call, without credentials. */
export interface OpenRoutes {
  /** How their paths begin. */
  readonly below: string
  readonly origins: readonly string[]
}

/** Returns the same for an open route: for the trusted origins and its own, and never with credentials. */
const openHeaders = (hosts: Hosts, { origins }: OpenRoutes, origin: string | undefined): Readonly<Record<string, string>> =>
  origin !== undefined && (hosts.trusts(origin) || origins.includes(origin))
    ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
    : {}

/** Returns the headers that let a page of another origin read an answer; none for an unknown origin. */
export const corsHeaders = (hosts: Hosts, origin: string | undefined): Readonly<Record<string, string>> =>
  origin !== undefined && hosts.trusts(origin)
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': exposed,
      }
    : {}

/**
 * Sets the CORS headers of every answer just before it is sent, from the host lists alone (Fetch standard, CORS
 * protocol). CORS headers that a route or a third-party handler wrote are replaced.
 * @param open routes that pages of more origins may call
 */
export function decideCors(app: FastifyInstance, hosts: Hosts, open: OpenRoutes | null = null): void {
  app.addHook('onRequest', (request, reply, done) => (isPreflight(request) ? void reply.code(204).send() : done()))
  app.addHook('onSend', (request, reply, payload, done) => {
    const headers = reply.getHeaders()
    for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) reply.removeHeader(name)
    const isOpen = open !== null && request.url.startsWith(open.below)
    const allowed = isOpen ? openHeaders(hosts, open, request.headers.origin) : corsHeaders(hosts, request.headers.origin)
    reply.headers(allowed)
    if (isPreflight(request) && 'access-control-allow-origin' in allowed) {
      const asked = request.headers['access-control-request-headers']
      reply.header('access-control-allow-methods', methods).header('access-control-max-age', maxAge)
      if (asked) reply.header('access-control-allow-headers', asked)
    }
    reply.header('vary', varyOf(headers.vary))
    done(null, payload)
  })
}

/** Adds Origin to the `Vary` header of an answer. */
export const varyOf = (vary: unknown): string => [...new Set([...(vary === undefined ? [] : String(vary).split(/, */)), 'Origin'])].join(', ')

const isPreflight = (request: FastifyRequest) => request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
