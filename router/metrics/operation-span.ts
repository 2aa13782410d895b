import type { Span, SpanFacts } from '../../platform/caller/trace.ts'

/** The label of operations that have no name. */
export const anonymous = 'anonymous'

/**
 * Returns the name and attributes of an operation's span, in OpenTelemetry's convention: `query Feed`, or `query`
 * alone.
 * @param operation the bounded name, so that callers cannot create endless names
 */
export function describeOperation(type: string, operation: string): { readonly name: string; readonly facts: SpanFacts } {
  const isNamed = operation !== anonymous
  return {
    name: isNamed ? `${type} ${operation}` : type,
    facts: { 'graphql.operation.type': type, ...(isNamed && { 'graphql.operation.name': operation }) },
  }
}

/** Spans that represent an operation already, such as that of a WebSocket message. */
const ofOperations = new WeakSet<Span>()

/** Marks a span as that of an operation, so that no further span is created below it. */
export const markOperation = (span: Span): void => void ofOperations.add(span)

/** Whether a span is that of an operation already. */
export const isOfOperation = (span: Span): boolean => ofOperations.has(span)
