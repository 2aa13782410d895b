import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { OpenStreams } from './chat/events.ts'

/** Metrics of model calls. Labels are names of providers and of outcomes, which are few. */
export interface AiFigures extends OpenStreams {
  counted(provider: string, outcome: string, latencyMs: number): void
}

export function createFigures(registry: Registry): AiFigures {
  const registers = [registry]
  const attempts = new Counter({
    name: 'providers_ai_attempts_total',
    help: 'Attempts to have a model answer, by provider and by what became of them: answered, or the failure.',
    labelNames: ['provider', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'providers_ai_attempt_seconds',
    help: 'How long attempts took: of streams until their first event.',
    labelNames: ['provider'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  })
  const streams = new Gauge({ name: 'providers_ai_streams_open', help: 'Streams of models that are being read.', registers })
  return {
    counted(provider, outcome, latencyMs) {
      attempts.inc({ provider, outcome })
      seconds.observe({ provider }, latencyMs / 1000)
    },
    opened: () => streams.inc(),
    closed: () => streams.dec(),
  }
}
