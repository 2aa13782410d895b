import type { IncomingMessage } from 'node:http'
import type { Span, SpanFacts, Tracing } from '../../platform/caller/trace.ts'

/**
 * Whether a route template contains a part that spans must not record: a secret, or a path that a subgraph reads
 * itself.
 */
const isSecret = (route: string): boolean => /\/:(?:token|code)\b|\*/.test(route)

/**
 * Begins the span of a request, named as OpenTelemetry prescribes: `GET /publishing/api/brands/:brandId`.
 * @param route template that the path matches; undefined when there is none: a path that the caller invents is not
 * recorded
 * @param facts further attributes @default none
 */
export function beginRequest(
  tracing: Tracing,
  { method = 'GET', url = '', headers }: IncomingMessage,
  requestId: string,
  route: string | undefined,
  facts?: SpanFacts,
): Span {
  return tracing.begin(route === undefined ? method : `${method} ${route}`, 'server', headers.traceparent, {
    requestId,
    'http.request.method': method,
    ...(route !== undefined && { 'http.route': route, 'url.path': isSecret(route) ? route : url.split('?', 1)[0]! }),
    ...facts,
  })
}

/** Ends the span of a request with its status; a 5xx status marks it as an error. */
export function endRequest(span: Span, status: number): void {
  span.end({ 'http.response.status_code': status }, status >= 500 ? { code: String(status) } : undefined)
}
