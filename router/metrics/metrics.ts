import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { DomainError } from '../../platform/errors.ts'
import { onAnswered } from './answered.ts'
import { registerFigures } from './figure.ts'
import { openHistogram, type Series } from './histogram.ts'
import { type MetricsAsker, mayRead } from './reader.ts'

export interface MetricsNeeds {
  /** Registry to be served; requests are counted in it. */
  readonly registry: Registry
  /** Token that lets other machines read, as `Authorization: Bearer`; null lets this machine only. */
  readonly token: string | null
  /** Figures to report instead of the registry's, if several processes are scraped as one. @default the registry's */
  readonly figures?: (() => Promise<string>) | undefined
}

/** Classes of requests that differ in cost and audience. */
type RouteClass = 'graphql' | 'rest' | 'page' | 'health' | 'metrics' | 'none'

/**
 * Counts the router's requests and serves the figures of this process, or of all that share its port, at `/metrics`, in
 * Prometheus' text format, to this machine and to callers with the token.
 */
export function serveMetrics(app: FastifyInstance, { registry, token, figures = () => registry.metrics() }: MetricsNeeds): void {
  const requests = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>()
  const durations = new Map<RouteClass, Series>()
  registerFigures(registry, [
    {
      name: 'http_requests_total',
      help: 'Answered requests; of streams, those that ended.',
      labels: ['class', 'method', 'status'],
      read: () => [...requests.values()],
    },
  ])
  const durationOf = openHistogram(registry, {
    name: 'http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  onAnswered(app, (request, reply, isWhole) => {
    const [kind, { method }, { statusCode }] = [classOf(request), request, reply]
    const key = `${kind} ${method} ${statusCode}`
    let counted = requests.get(key)
    if (!counted) {
      counted = { labels: { class: kind, method, status: String(statusCode) }, value: 0 }
      requests.set(key, counted)
    }
    counted.value += 1
    // The duration of a stream is the client's choice and says nothing about response times.
    if (!isWhole) return
    let took = durations.get(kind)
    if (!took) {
      took = durationOf({ class: kind })
      durations.set(kind, took)
    }
    took.observe(reply.elapsedTime / 1000)
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(askerOf(request), token))
      throw new DomainError('UNAUTHENTICATED', 'Metrics are read from the machine itself, or with METRICS_TOKEN as Authorization: Bearer.')
    return reply.headers({ 'content-type': registry.contentType, 'cache-control': 'no-store' }).send(await figures())
  })
}

const askerOf = ({ ip, headers }: FastifyRequest): MetricsAsker => ({ address: ip, headers })

/** Returns the class of a request by its route: paths that callers invent do not become labels. */
function classOf({ routeOptions: { url } }: FastifyRequest): RouteClass {
  if (url === undefined) return 'none'
  if (url.startsWith('/graphql')) return 'graphql'
  if (url === '/metrics') return 'metrics'
  if (url.startsWith('/health/')) return 'health'
  return /^\/\w+\/api\//.test(url) ? 'rest' : 'page'
}
