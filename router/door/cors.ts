import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Hosts } from '../hosts.ts'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** What of an answer's headers pages of other origins may read, beside those that they always may. */
const exposed = [
  'ETag, Idempotent-Replayed, Location, Retry-After, Sunset, X-Request-Id',
  'Upload-Offset, Upload-Length, Upload-Expires, Tus-Resumable, X-Media-Asset-Id',
  ...['Attempts', 'Call-Id', 'Cost-Micros', 'Dropped', 'Model', 'Provider'].map(name => `X-Gateway-${name}`),
].join(', ')

/** What a browser may remember a preflight for, in seconds. */
const maxAge = 600

/** The headers by which a page of another origin may read an answer: none for an origin that is not ours. */
export const corsHeaders = (hosts: Hosts, origin: string | undefined): Readonly<Record<string, string>> =>
  origin !== undefined && hosts.trusts(origin)
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': exposed,
      }
    : {}

/**
 * Decides for every answer, at the last moment and from the host lists alone, whether another origin may read it (Fetch
 * standard, CORS protocol). What a route or a foreign handler wrote of the kind is replaced.
 */
export function decideCors(app: FastifyInstance, hosts: Hosts): void {
  app.addHook('onRequest', (request, reply, done) => (isPreflight(request) ? void reply.code(204).send() : done()))
  app.addHook('onSend', (request, reply, payload, done) => {
    const headers = reply.getHeaders()
    for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) reply.removeHeader(name)
    const allowed = corsHeaders(hosts, request.headers.origin)
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

/** What an answer says of headers it depends on, by its `Vary`: Origin is one of them. */
export const varyOf = (vary: unknown): string => [...new Set([...(vary === undefined ? [] : String(vary).split(/, */)), 'Origin'])].join(', ')

const isPreflight = (request: FastifyRequest) => request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
