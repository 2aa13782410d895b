import { randomBytes } from 'node:crypto'
import type { Span, SpanFacts, SpanKind, Tracing } from '../../platform/caller/trace.ts'

/** Keeps every trace, each span as one line of JSON: name, facts and, as a collector would be sent it, what kind of failure ended it. */
export function keepSpans(lines: string[]): Tracing {
  const open = (name: string, kind: SpanKind, traceId: string, facts: SpanFacts = {}): Span => ({
    traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
    kept: true,
    begin: (below, of, more) => open(below, of, traceId, more),
    end(more, failure) {
      const { name: error } = (failure ?? {}) as { name?: string }
      lines.push(JSON.stringify({ span: name, kind, ...facts, ...more, ...(failure !== undefined && { error }) }))
    },
  })
  return {
    begin: (name, kind, _, facts) => open(name, kind, randomBytes(16).toString('hex'), facts),
    async close() {},
  }
}
