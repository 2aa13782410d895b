import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Histogram, type Registry } from 'prom-client'
import { Refusal } from '../../platform/errors.ts'
import { type MetricsAsker, mayRead } from './reader.ts'

export interface MetricsNeeds {
  /** What is served; requests are counted in it. */
  readonly registry: Registry
  /** Lets callers from elsewhere read, as `Authorization: Bearer`; null: only this machine may. */
  readonly token: string | null
}

/** Kinds of requests that differ in what they cost and in who cares. */
type RouteClass = 'graphql' | 'rest' | 'page' | 'health' | 'metrics' | 'none'

/** Counts what passes the door and serves the process's figures at `/metrics`, in Prometheus' text format, to this machine and to whoever has the token. */
export function serveMetrics(app: FastifyInstance, { registry, token }: MetricsNeeds): void {
  const registers: [Registry] = [registry]
  const requests = new Counter({ name: 'http_requests_total', help: 'Answered requests.', labelNames: ['class', 'method', 'status'], registers })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['class'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  app.addHook('onResponse', async (request, reply) => {
    const kind = classOf(request)
    requests.inc({ class: kind, method: request.method, status: String(reply.statusCode) })
    durations.observe({ class: kind }, reply.elapsedTime / 1000)
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(askerOf(request), token))
      throw new Refusal('UNAUTHENTICATED', 'Metrics are read from the machine itself, or with METRICS_TOKEN as Authorization: Bearer.')
    return reply.headers({ 'content-type': registry.contentType, 'cache-control': 'no-store' }).send(await registry.metrics())
  })
}

const askerOf = ({ ip, headers }: FastifyRequest): MetricsAsker => ({ address: ip, headers })

/** What a request was for, by its route: addresses of callers' own making do not become labels. */
function classOf({ routeOptions: { url } }: FastifyRequest): RouteClass {
  if (url === undefined) return 'none'
  if (url === '/graphql') return 'graphql'
  if (url === '/metrics') return 'metrics'
  if (url.startsWith('/health/')) return 'health'
  return /^\/\w+\/api\//.test(url) ? 'rest' : 'page'
}
