/**
 * Program with the whole router over the shop's subgraphs in one process: `watched-serve.ts SUPERGRAPH WATCH
 * COLLECTOR`. WATCH is `none`, `figures` or `traces`; the latter sends one of ten traces to the collector. It reports
 * its port.
 */
import { readFileSync } from 'node:fs'
import pino from 'pino'
import { Registry } from 'prom-client'
import { systemClock } from '../../platform/clock.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { measureOperations } from '../../router/metrics/operations.ts'
import { createRouter } from '../../router/router.ts'
import { openTracing } from '../../router/tracing/otlp.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'

const [file, watch, endpoint] = process.argv.slice(2) as [string, 'none' | 'figures' | 'traces', string]
const log = pino({ level: 'silent' })
const metrics = new Registry()
const figures = measureOperations(metrics)
const subgraphs = createEmbeddedTransport(shopSubgraphs())
const isWatched = watch !== 'none'
const transport = isWatched ? figures.watchTransport(subgraphs) : subgraphs
const engine = createEngine({ supergraphSdl: readFileSync(file, 'utf8'), transport, log, ...(isWatched && { planned: figures.planned }) })
const router = await createRouter({
  engine: isWatched ? figures.watchEngine(engine) : engine,
  authority: null,
  subgraphs: [],
  host: '127.0.0.1',
  port: 0,
  publicUrl: 'http://localhost',
  environment: 'production',
  clock: systemClock,
  log,
  readiness: [],
  metrics,
  tracing: watch === 'traces' ? openTracing({ endpoint, share: 0.1, service: 'bench' }) : undefined,
})
const { port } = await router.listen()
process.on('disconnect', () => process.exit())
process.send!({ port })
