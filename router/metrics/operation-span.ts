import type { Span, SpanFacts } from '../../platform/caller/trace.ts'

/** The label of operations that have no name. */
export const anonymous = 'anonymous'

/**
 * Returns what the span of an operation is called, as OpenTelemetry names one, and what it notes: `query Feed`, or `query` alone.
 * @param operation its name as it is counted, so that callers make no names without end
 */
export function describeOperation(type: string, operation: string): { readonly name: string; readonly facts: SpanFacts } {
  const isNamed = operation !== anonymous
  return {
    name: isNamed ? `${type} ${operation}` : type,
    facts: { 'graphql.operation.type': type, ...(isNamed && { 'graphql.operation.name': operation }) },
  }
}

/** Spans that are an operation's by themselves, as a message's over WebSocket is. */
const ofOperations = new WeakSet<Span>()

/** Marks a span as that of an operation, which needs no other below it. */
export const markOperation = (span: Span): void => void ofOperations.add(span)

/** Whether a span is that of an operation already. */
export const isOfOperation = (span: Span): boolean => ofOperations.has(span)
