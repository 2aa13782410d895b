import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Hosts } from '../hosts.ts'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
/** What a browser may remember a preflight for, in seconds. */
const maxAge = 600

/** The headers by which a page of another origin may read an answer: none for an origin that is not ours. */
export const corsHeaders = (hosts: Hosts, origin: string | undefined): Readonly<Record<string, string>> =>
  origin !== undefined && hosts.trusts(origin)
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'ETag, Location, Retry-After, X-Request-Id',
      }
    : {}

/**
 * Decides for every answer, at the last moment and from the host lists alone, whether another origin may read it (Fetch
 * standard, CORS protocol). What a route or a foreign handler wrote of the kind is replaced.
 */
export function decideCors(app: FastifyInstance, hosts: Hosts): void {
  app.addHook('onRequest', async (request, reply) => (isPreflight(request) ? reply.code(204).send() : undefined))
  app.addHook('onSend', async (request, reply, payload) => {
    const headers = reply.getHeaders()
    for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) reply.removeHeader(name)
    const allowed = corsHeaders(hosts, request.headers.origin)
    reply.headers(allowed)
    if (isPreflight(request) && 'access-control-allow-origin' in allowed) {
      const asked = request.headers['access-control-request-headers']
      reply.header('access-control-allow-methods', methods).header('access-control-max-age', maxAge)
      if (asked) reply.header('access-control-allow-headers', asked)
    }
    const vary = headers.vary === undefined ? [] : String(headers.vary).split(/, */)
    reply.header('vary', [...new Set([...vary, 'Origin'])].join(', '))
    return payload
  })
}

const isPreflight = (request: FastifyRequest) => request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
