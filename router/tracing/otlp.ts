import { randomUUID } from 'node:crypto'
import { ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-node'
import type { Span, SpanFacts, Tracing } from '../../platform/caller/trace.ts'

export interface TracingOptions {
  /** Origin and path of a collector that receives OTLP over HTTP; `/v1/traces` is appended. */
  readonly endpoint: string
  /** Share of all traces that are sampled: 0 to 1. */
  readonly share: number
  /** Name of the process's service, under which its spans are found. */
  readonly service: string
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL, consumer: SpanKind.CONSUMER } as const

/**
 * Time limit in ms for sending the remaining spans at the end, because nothing else waits by then and lost spans lose
 * no data.
 */
const lastMs = 1_000

/**
 * Opens tracing by OpenTelemetry. Sampling depends on the trace id alone: all processes decide alike, and no caller can
 * have all its requests sampled. Nothing is registered with OpenTelemetry's global interface.
 */
export function openTracing({ endpoint, share, service }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })
  const sampler = new TraceIdRatioBasedSampler(share)
  let beginning = ''
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': randomUUID() }),
    sampler,
    idGenerator: { generateTraceId: () => beginning, generateSpanId: () => hex(8) },
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000 })],
  })
  const tracer = provider.getTracer('supergraph')

  const open = (name: string, kind: keyof typeof kinds, parent: SpanContext | null, facts: SpanFacts = {}): Span => {
    const above = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: { ...facts } }, above)
    const own = span.spanContext()
    return {
      traceparent: `00-${own.traceId}-${own.spanId}-0${own.traceFlags & TraceFlags.SAMPLED}`,
      kept: span.isRecording(),
      begin: (name, kind, facts) => open(name, kind, own, facts),
      end(facts, failure) {
        if (facts) span.setAttributes({ ...facts })
        if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(failure))
        span.end()
      },
    }
  }
  return {
    begin(name, kind, traceparent, facts) {
      const parent = readTraceparent(traceparent)
      const traceId = parent?.traceId ?? hex(16)
      // Nine of ten requests are not sampled, and an unsampled span costs OpenTelemetry nearly as much as a sampled one.
      if (sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.NOT_RECORD) return passing(traceId)
      beginning = traceId
      return open(name, kind, parent, facts)
    },
    async close() {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, lastMs)
      await Promise.race([provider.shutdown().catch(() => {}), late.promise])
      clearTimeout(timer)
    },
  }
}

/**
 * Returns the span of an unsampled trace: its context is passed on, so that other processes do not sample it either.
 */
function passing(traceId: string): Span {
  let traceparent: string | undefined
  const span: Span = {
    get traceparent() {
      traceparent ??= `00-${traceId}-${hex(8)}-00`
      return traceparent
    },
    kept: false,
    begin: () => span,
    end() {},
  }
  return span
}

const random = Buffer.allocUnsafe(16)

/** Returns random bytes, 16 at most, as hexadecimal digits, of which at least one is not zero. */
function hex(bytes: number): string {
  for (let at = 0; at < bytes; at += 4) random.writeUInt32BE(1 + Math.floor(Math.random() * 0xffff_ffff), at)
  return random.toString('hex', 0, bytes)
}

const kindOf = (failure: unknown): string => {
  const { extensions, code, name } = (failure ?? {}) as { extensions?: { code?: unknown }; code?: unknown; name?: unknown }
  return String(extensions?.code ?? code ?? name ?? 'Error').slice(0, 100)
}

/** Reads a traceparent (W3C Trace Context, version 00); null for an invalid one. */
export function readTraceparent(written: unknown): SpanContext | null {
  if (typeof written !== 'string') return null
  const found = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(written)
  if (!found) return null
  const [, traceId, spanId, flags] = found as unknown as [string, string, string, string]
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}
