import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { Refusal } from '../../platform/errors.ts'

/** Something that can be read at any moment. */
export interface Figure {
  /** As Prometheus names metrics; what only grows ends in `_total`. */
  readonly name: string
  readonly help: string
  /** The names of labels, where there is a value for each set of them. */
  readonly labels?: readonly string[]
  read(): number | readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
}

export interface MetricsNeeds {
  readonly figures: readonly Figure[]
  /** Lets callers from elsewhere read, as `Authorization: Bearer`; null: only this machine may. */
  readonly token: string | null
}

/** Kinds of requests that differ in what they cost and in who cares. */
type RouteClass = 'graphql' | 'rest' | 'page' | 'health' | 'metrics' | 'none'

/**
 * Counts what passes the door and serves it with the process's own figures at `/metrics`, in Prometheus' text format, to this machine and to
 * whoever has the token. Every application has a registry of its own: two platforms of one process do not count together.
 */
export function serveMetrics(app: FastifyInstance, { figures, token }: MetricsNeeds): void {
  const registry = new Registry()
  const registers: [Registry] = [registry]
  const requests = new Counter({ name: 'http_requests_total', help: 'Answered requests.', labelNames: ['class', 'method', 'status'], registers })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['class'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  for (const figure of [...processFigures, ...figures]) register(figure, registers)
  app.addHook('onResponse', async (request, reply) => {
    const kind = classOf(request)
    requests.inc({ class: kind, method: request.method, status: String(reply.statusCode) })
    durations.observe({ class: kind }, reply.elapsedTime / 1000)
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, token))
      throw new Refusal('UNAUTHENTICATED', 'Metrics are read from the machine itself, or with METRICS_TOKEN as Authorization: Bearer.')
    return reply.headers({ 'content-type': registry.contentType, 'cache-control': 'no-store' }).send(await registry.metrics())
  })
}

/** Enters a figure that is read when the registry is. */
function register({ name, help, labels = [], read }: Figure, registers: [Registry]): void {
  const valuesOf = (): Exclude<ReturnType<Figure['read']>, number> => {
    const found = read()
    return typeof found === 'number' ? [{ labels: {}, value: found }] : found
  }
  if (name.endsWith('_total')) {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: [...labels],
      registers,
      collect() {
        counter.reset()
        for (const each of valuesOf()) counter.inc(each.labels, each.value)
      },
    })
  } else {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers,
      collect() {
        // A label that is gone is gone.
        gauge.reset()
        for (const each of valuesOf()) gauge.set(each.labels, each.value)
      },
    })
  }
}

/** A caller on this machine whom no proxy stands before, or one with the token. */
function mayRead({ ip, headers }: FastifyRequest, token: string | null): boolean {
  const shown = /^bearer +(.+?) *$/i.exec(headers.authorization ?? '')?.[1]
  if (token !== null && shown !== undefined) return timingSafeEqual(hash(shown), hash(token))
  const passedOn = headers['x-forwarded-for'] ?? headers.forwarded
  const address = ip.replace(/^::ffff:/, '')
  return passedOn === undefined && (address === '::1' || (isIP(address) === 4 && address.startsWith('127.')))
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What a request was for, by its route: addresses of callers' own making do not become labels. */
function classOf({ routeOptions: { url } }: FastifyRequest): RouteClass {
  if (url === undefined) return 'none'
  if (url === '/graphql') return 'graphql'
  if (url === '/metrics') return 'metrics'
  if (url.startsWith('/health/')) return 'health'
  return /^\/\w+\/api\//.test(url) ? 'rest' : 'page'
}

const figure = (name: string, help: string, read: () => number): Figure => ({ name, help, read })

/** Read when they are asked for: nothing of them costs anything meanwhile. Names as other Node services have them. */
const processFigures: readonly Figure[] = [
  figure('process_cpu_seconds_total', 'Processor time of this process, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  figure('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
  figure('process_start_time_seconds', 'When the process started, in seconds since 1970.', () => Math.round(performance.timeOrigin / 1000)),
  figure('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed),
  figure('nodejs_external_memory_bytes', 'Memory of buffers and of native objects.', () => process.memoryUsage().external),
  figure(
    'nodejs_eventloop_utilization_ratio',
    'Share of the time since the start in which the event loop was busy.',
    () => performance.eventLoopUtilization().utilization,
  ),
  {
    name: 'nodejs_active_resources',
    help: 'What keeps the event loop going, by kind.',
    labels: ['type'],
    read: () =>
      Object.entries(Object.groupBy(process.getActiveResourcesInfo(), kind => kind)).map(([type, all]) => ({ labels: { type }, value: all?.length ?? 0 })),
  },
]
