import type { Attributes, Span } from '@opentelemetry/api'
import { optional } from './host/optional.ts'
import type { OpenTelemetryConfig } from './types.ts'
import { version } from './version.ts'

type Api = typeof import('@opentelemetry/api')

export type SpanName = 'gateway.request' | 'gateway.validate' | 'gateway.plan' | 'gateway.execute' | 'gateway.fetch' | 'gateway.postprocessing'

let api: Api | null | undefined

/** A span, or its place where `@opentelemetry/api` is not installed. */
export interface OpenSpan {
  setAttributes(attributes: Attributes): void
  /** Marks the span as failed, and records the errors where the configuration says so. */
  failed(errors: readonly unknown[], config: OpenTelemetryConfig | undefined): void
}

/**
 * Runs work in a span of its own below the active one; without `@opentelemetry/api`, just runs it. The span ends with
 * the work, and has failed where that throws.
 */
export function inSpan<Result>(name: SpanName, config: OpenTelemetryConfig | undefined, attributes: Attributes, work: (span: OpenSpan) => Result): Result {
  api ??= optional<Api>('@opentelemetry/api')
  if (!api) return work(noSpan)
  const { trace, SpanStatusCode } = api
  return trace.getTracer('supergraph-gateway', version).startActiveSpan(name, { attributes }, span => {
    const open: OpenSpan = {
      setAttributes: more => void span.setAttributes(more),
      failed(errors, settings) {
        record(span, errors, settings)
        span.setStatus({ code: SpanStatusCode.ERROR })
      },
    }
    const fail = (cause: unknown): never => {
      open.failed([cause], config)
      span.end()
      throw cause
    }
    let result: Result
    try {
      result = work(open)
    } catch (cause) {
      return fail(cause)
    }
    if (!(result instanceof Promise)) {
      span.end()
      return result
    }
    const ended = result.then(value => {
      span.end()
      return value
    }, fail)
    return ended as Result
  })
}

/** Spans of the stages that the engine runs. */
const stageSpans = { plan: 'gateway.plan', execute: 'gateway.execute', shape: 'gateway.postprocessing' } as const

/** Runs a stage of an operation in its span; that of an execution whose answer has errors has failed. */
export function inStageSpan<Result>(
  stage: keyof typeof stageSpans,
  config: OpenTelemetryConfig | undefined,
  attributes: Attributes,
  work: () => Result,
): Result {
  return inSpan(stageSpans[stage], config, attributes, span => {
    const result = work()
    if (stage !== 'execute' || span === noSpan || !(result instanceof Promise)) return result
    return result.then(answer => {
      if (answer?.errors) span.failed(answer.errors, config)
      return answer
    }) as Result
  })
}

function record(span: Span, errors: readonly unknown[], { recordExceptions = false }: OpenTelemetryConfig = {}): void {
  if (recordExceptions === false) return
  const most = recordExceptions === true ? errors.length : Math.max(0, recordExceptions)
  for (const error of errors.slice(0, most)) span.recordException(error as Error)
}

const noSpan: OpenSpan = { setAttributes() {}, failed() {} }
