import { AsyncLocalStorage } from 'node:async_hooks'

/** Attributes of a span: names, figures and ids; never variables, statement parameters or secrets. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>

export type SpanKind = 'server' | 'client' | 'internal' | 'consumer'

/** A piece of work in a trace. */
export interface Span {
  /** The span in W3C Trace Context format, for processes that continue the trace. */
  readonly traceparent: string
  /** Whether the trace is sampled; other spans record nothing more. */
  readonly kept: boolean
  begin(name: string, kind: SpanKind, facts?: SpanFacts): Span
  /** @param failure the error of the work: its kind is recorded, never its message */
  end(facts?: SpanFacts, failure?: unknown): void
}

/** Starts traces, or continues those of callers. */
export interface Tracing {
  /** @param traceparent the caller's header as received; an invalid one starts a new trace */
  begin(name: string, kind: SpanKind, traceparent: unknown, facts?: SpanFacts): Span
  /** Sends the remaining spans. */
  close(): Promise<void>
}

const present = new AsyncLocalStorage<Span | undefined>()

/** Runs work, and all that it starts, as part of a span. */
export const below = <Result>(span: Span | undefined, work: () => Result): Result => (span ? present.run(span, work) : work())

/** Runs work outside of any trace. */
export const outsideTraces = <Result>(work: () => Result): Result => (present.getStore() ? present.run(undefined, work) : work())

/** Returns the present span if its trace is sampled: span names are only built below one. */
export function keptSpan(): Span | undefined {
  const span = present.getStore()
  return span?.kept ? span : undefined
}

/** Starts a span below the present one; undefined without a sampled one. */
export const beginSpan = (name: string, kind: SpanKind, facts?: SpanFacts): Span | undefined => keptSpan()?.begin(name, kind, facts)

/** Runs work in a span of its own below the present one. Without one it costs a single check. */
export function traced<Result>(name: string, kind: SpanKind, facts: SpanFacts, work: () => Promise<Result>): Promise<Result> {
  const span = beginSpan(name, kind, facts)
  return span ? finished(span, work) : work()
}

/**
 * Runs work as part of a span, and ends the span with it.
 * @param learnt attributes from the result @default none
 */
export async function finished<Result>(span: Span, work: () => Promise<Result>, learnt?: (result: Result) => SpanFacts): Promise<Result> {
  try {
    const result = await present.run(span, work)
    span.end(learnt?.(result))
    return result
  } catch (failure) {
    span.end({}, failure)
    throw failure
  }
}

/** Returns the trace context of the present work, for a continuation; undefined outside of any trace. */
export const traceparentNow = (): string | undefined => present.getStore()?.traceparent

/** Returns name and value of the header that passes the trace context on. */
export function traceHeaders(): readonly string[] {
  const span = present.getStore()
  return span ? ['traceparent', span.traceparent] : none
}

const none: readonly string[] = []
