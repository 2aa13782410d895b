import type { IncomingMessage } from 'node:http'
import type { Span, SpanFacts, Tracing } from '../../platform/caller/trace.ts'

/** Templates of which a part is not to be noted: a secret, or whatever somebody behind us reads there. */
const isSecret = (route: string): boolean => /\/:(?:token|code)\b|\*/.test(route)

/**
 * Begins the span of a request, named as OpenTelemetry names one: `GET /publishing/api/brands/:brandId`.
 * @param route the template that its path fits; undefined where there is none, and of a path of a caller's own making nothing is noted
 * @param facts what else is noted of it @default nothing
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

/** Ends the span of a request with its status; one of ours that failed is an error. */
export function endRequest(span: Span, status: number): void {
  span.end({ 'http.response.status_code': status }, status >= 500 ? { code: String(status) } : undefined)
}
