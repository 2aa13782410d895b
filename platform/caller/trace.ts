import { AsyncLocalStorage } from 'node:async_hooks'

/** What a span notes: names, figures and ids; never a variable, a parameter of a statement or a secret. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>

export type SpanKind = 'server' | 'client' | 'internal' | 'consumer'

/** A piece of work in a trace. */
export interface Span {
  /** As W3C Trace Context writes it, for those who go on with the trace. */
  readonly traceparent: string
  /** Whether the trace is kept: of one that is not, nothing more is noted. */
  readonly kept: boolean
  begin(name: string, kind: SpanKind, facts?: SpanFacts): Span
  /** @param failure what it failed by: its kind is noted, never its words */
  end(facts?: SpanFacts, failure?: unknown): void
}

/** Begins traces, or goes on with those of others. */
export interface Tracing {
  /** @param traceparent the caller's header as received; an invalid one starts a new trace */
  begin(name: string, kind: SpanKind, traceparent: unknown, facts?: SpanFacts): Span
  /** Sends what is left. */
  close(): Promise<void>
}

const present = new AsyncLocalStorage<Span | undefined>()

/** Does work, and whatever it begins, as part of a span. */
export const below = <Result>(span: Span | undefined, work: () => Result): Result => (span ? present.run(span, work) : work())

/** Does work that is part of no trace. */
export const outsideTraces = <Result>(work: () => Result): Result => (present.getStore() ? present.run(undefined, work) : work())

/** Returns the present span where its trace is kept: what a span is called is put together only below one. */
export function keptSpan(): Span | undefined {
  const span = present.getStore()
  return span?.kept ? span : undefined
}

/** Begins a span below the present one; undefined where there is none, or none that is kept. */
export const beginSpan = (name: string, kind: SpanKind, facts?: SpanFacts): Span | undefined => keptSpan()?.begin(name, kind, facts)

/** Does work as a span of its own below the present one. Costs a look where there is none. */
export function traced<Result>(name: string, kind: SpanKind, facts: SpanFacts, work: () => Promise<Result>): Promise<Result> {
  const span = beginSpan(name, kind, facts)
  return span ? finished(span, work) : work()
}

/**
 * Does work as part of a span, and ends that with it.
 * @param learnt what the span notes of the result @default nothing
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

/** The trace that present work is part of, for whoever goes on with it; undefined outside of any. */
export const traceparentNow = (): string | undefined => present.getStore()?.traceparent

/** Name and value of the header that tells others of the trace. */
export function traceHeaders(): readonly string[] {
  const span = present.getStore()
  return span ? ['traceparent', span.traceparent] : none
}

const none: readonly string[] = []
